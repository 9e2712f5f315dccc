//go:build judge

package judge

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// kafkaProgram is the judge in testdata/NAME.java, to be run with Kafka's jars. Java compiles the file
// itself.
func kafkaProgram(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	const hint = "on Debian: apt-get install default-jdk-headless maven; Kafka 4.2 needs Java 17 or later"
	need(t, "javac", hint)
	need(t, "java", hint)
	source, err := filepath.Abs(filepath.Join("testdata", name+".java"))
	if err != nil {
		t.Fatal(err)
	}
	jars := fetched(t, "kafka-4.2.0", func(dir string) *exec.Cmd {
		need(t, "mvn", hint)
		return exec.Command("mvn", "--batch-mode", "--file", "testdata/kafka.xml", "-DoutputDirectory="+dir,
			"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies")
	})
	options := []string{"-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(jars, "*"), source}
	return exec.CommandContext(t.Context(), "java", append(options, args...)...)
}
