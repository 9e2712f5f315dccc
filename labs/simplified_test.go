package labs

import (
	"strings"
	"testing"
)

func TestSimplifiedOf(t *testing.T) {
	if lines := SimplifiedOf(); lines != nil {
		t.Errorf("no package gives %v", lines)
	}
	if lines := SimplifiedOf("engine/recor", "record"); lines != nil {
		t.Errorf("part of a path gives %v", lines)
	}
	for _, line := range SimplifiedOf("engine/record") {
		if line.Package != "engine/record" {
			t.Errorf("engine/record gives %+v", line)
		}
	}
	var packages []string
	for _, line := range simplifiedLines {
		packages = append(packages, line.Package)
		if line.Text == "" || strings.Contains(line.Text, "\n") || !strings.HasPrefix(line.At, line.Package+"/") {
			t.Errorf("line is not as documented: %+v", line)
		}
	}
	if got := SimplifiedOf(packages...); len(got) != len(simplifiedLines) {
		t.Errorf("all packages give %d lines, want %d", len(got), len(simplifiedLines))
	}
}
