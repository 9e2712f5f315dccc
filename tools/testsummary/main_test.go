package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummary(t *testing.T) {
	for _, test := range []struct {
		name, in, want string
		ok             bool
	}{
		{
			name: "all pass",
			in: `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:4: detail\n"}
{"Action":"pass","Package":"p","Test":"TestA/sub"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
{"Action":"output","Package":"q","Output":"?   \tq\t[no test files]\n"}
{"Action":"skip","Package":"q"}
`,
			want: "ok  \tp\t0.1s\n2 passed, 0 failed\n",
			ok:   true,
		},
		{
			name: "a failed test shows its output, a skipped one its reason",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:4: bad\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    a_test.go:9: no wind\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`,
			want: "    a_test.go:4: bad\n--- FAIL: TestA (0.00s)\nFAIL\tp\t0.1s\n" +
				"skipped p TestB: a_test.go:9: no wind\n1 passed, 1 failed, 1 skipped\n",
		},
		{
			name: "a package that does not build",
			in: `{"ImportPath":"p","Action":"build-output","Output":"p/a_test.go:3: undefined: x\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
`,
			want: "p/a_test.go:3: undefined: x\nFAIL\tp [build failed]\n0 passed, 1 failed\n",
		},
		{
			name: "a package that ends in the middle of a test",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: boom\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`,
			want: "panic: boom\nFAIL\tp\t0.1s\n0 passed, 1 failed\n",
		},
		{
			name: "nothing ran",
			in:   "go: cannot find main module\n",
			want: "go: cannot find main module\n0 passed, 0 failed\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			s := newSummary(&out)
			if err := s.read(strings.NewReader(test.in)); err != nil {
				t.Fatal(err)
			}
			if ok := s.finish(); ok != test.ok {
				t.Errorf("ok %v, want %v", ok, test.ok)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
