//go:build judge

package judge

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kafkajs places keys by murmur2 since 2.0, and in its legacy partitioner by its own kind of murmur2.
func TestKafkajs(t *testing.T) {
	const hint = "on Debian: apt-get install nodejs npm"
	need(t, "node", hint)
	modules := fetched(t, "kafkajs-2.2.4", func(dir string) *exec.Cmd {
		need(t, "npm", hint)
		return exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "kafkajs@2.2.4")
	})
	rnd := draws(t)
	keys := drawKeys(&rnd, 20_000)

	judge := exec.CommandContext(t.Context(), "node", "testdata/kafkajs.js")
	judge.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(modules, "node_modules"))
	var byDefault, legacy []string
	for _, answer := range answers(t, judge, keyQuestions(keys)) {
		first, second, _ := strings.Cut(answer, ", ")
		byDefault, legacy = append(byDefault, first), append(legacy, second)
	}
	comparePlaces(t, "murmur2", keys, byDefault)
	comparePlaces(t, "kafkajs-legacy", keys, legacy)
}
