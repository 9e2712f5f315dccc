//go:build judge

package judge

import (
	"os/exec"
	"path/filepath"
	"testing"
)

const kafkaHint = "on Debian: apt-get install default-jdk-headless maven; Kafka 4.2 needs Java 17 or later"

// kafkaJars gives the directory of the jars that a file of testdata names.
func kafkaJars(t *testing.T, name, file string) string {
	t.Helper()
	return fetched(t, name, func(dir string) *exec.Cmd {
		need(t, "mvn", kafkaHint)
		return exec.Command("mvn", "--batch-mode", "--file", filepath.Join("testdata", file), "-DoutputDirectory="+dir,
			"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies")
	})
}

// kafkaProgram is the judge in testdata/NAME.java, to be run with Kafka's jars. Java compiles the file
// itself.
func kafkaProgram(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	need(t, "javac", kafkaHint)
	need(t, "java", kafkaHint)
	source, err := filepath.Abs(filepath.Join("testdata", name+".java"))
	if err != nil {
		t.Fatal(err)
	}
	jars := kafkaJars(t, "kafka-4.2.0", "kafka.xml")
	options := []string{"-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(jars, "*"), source}
	return exec.CommandContext(t.Context(), "java", append(options, args...)...)
}

// compiledProgram is a judge of several files of testdata, which are compiled first; the first one has main.
func compiledProgram(t *testing.T, names ...string) *exec.Cmd {
	t.Helper()
	need(t, "javac", kafkaHint)
	need(t, "java", kafkaHint)
	classes := t.TempDir()
	path := filepath.Join(kafkaJars(t, "kafka-4.2.0", "kafka.xml"), "*")
	args := []string{"-d", classes, "-cp", path}
	for _, name := range names {
		args = append(args, filepath.Join("testdata", name+".java"))
	}
	compile := exec.CommandContext(t.Context(), "javac", args...)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compile, err, out)
	}
	return exec.CommandContext(t.Context(), "java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classes+string(filepath.ListSeparator)+path, names[0])
}

// producerProgram is the judge in testdata/NAME.java and Script.java, which stand in the package of the
// producer's internals. They are compiled first: only so do they see what is private to that package.
func producerProgram(t *testing.T, name, jars string) *exec.Cmd {
	t.Helper()
	need(t, "javac", kafkaHint)
	need(t, "java", kafkaHint)
	classes := t.TempDir()
	path := filepath.Join(jars, "*")
	compile := exec.CommandContext(t.Context(), "javac", "-d", classes, "-cp", path,
		filepath.Join("testdata", "Script.java"), filepath.Join("testdata", name+".java"))
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compile, err, out)
	}
	return exec.CommandContext(t.Context(), "java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp", classes+string(filepath.ListSeparator)+path,
		"org.apache.kafka.clients.producer.internals."+name)
}
