package scenario_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loglab/content"
	"loglab/engine"
	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/lesson"
	"loglab/labs/scenario"
)

var (
	library *scenario.Library
	discard = slog.New(slog.DiscardHandler)
)

// known is what scenarios can refer to.
func known(t testing.TB) scenario.Known {
	t.Helper()
	terms, err := lesson.LoadGlossary(content.FS)
	if err != nil {
		t.Fatal(err)
	}
	return scenario.Known{Labs: all.Labs(), Term: func(slug string) (string, bool) { t, ok := terms.Term(slug); return t.Title, ok },
		Lesson: func(slug string) (string, bool) {
			titles := map[string]string{"replication": "Replication", "log": "The log"}
			return titles[slug], titles[slug] != ""
		}}
}

// Every shipped scenario runs, and what it says holds: expectations, answers, and the solution of its goal.
func TestShippedScenarios(t *testing.T) {
	t.Parallel()
	list, err := scenario.Load(content.FS, "scenarios", known(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if err := s.Check("scenarios/" + s.Name + ".yaml"); err != nil {
				t.Error(err)
			}
			if s.Stops() > 25 {
				t.Errorf("it has %d stops to its point, at most 25 are wanted", s.Stops())
			}
			if len(s.Expect) == 0 {
				t.Error("it expects nothing")
			}
			again, err := s.Outcome()
			if err != nil || len(again.Answers) != len(s.Questions) {
				t.Errorf("it answers %d of %d questions: %v", len(again.Answers), len(s.Questions), err)
			}
		})
	}
}

// good is a scenario with one of everything. Its lines are numbered from 1.
const good = `title: A title
summary: What it shows.
group: replication
terms: [acks]
lab: replication
settings: {acks: 1, rate: 0}
end: 20
commands:
  - {at: 2, do: produce p0}
  - {at: 5, do: kill b1}
vs: {acks: all}
parts:
  - {name: first, from: 0, to: 4}
say:
  - {at: 0, text: "So it begins, with ${len(brokers)} brokers."}
  - {at: 5, text: "b1 dies.", show: node:b1}
questions:
  - name: who
    at: 5
    decided: 9
    ask: Who leads?
    answer: string(partition("orders-0").leader)
    choices:
      - {is: 1, text: still b1}
      - {is: 2, text: b2}
    because: "Nobody has noticed, and vs has b${vs.partitions[0].leader}."
  - name: count
    at: 10
    decided: 11
    ask: How many brokers run?
    answer: count(brokers, .state == "running")
    number: {unit: broker, max: 3}
    because: One was killed.
goal:
  text: Kill b2.
  reached: broker("b2").state != "running"
  fewest: 1
  within: 9
  solution:
    - {at: 1, do: kill b2}
expect:
  - {at: 9, that: 'count(brokers, .state == "running") == 2'}
`

func parse(t testing.TB, source string) error {
	t.Helper()
	s, err := scenario.Parse("good.yaml", []byte(source), known(t))
	if err != nil {
		return err
	}
	return s.Check("good.yaml")
}

func TestGood(t *testing.T) {
	if err := parse(t, good); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse("good.yaml", []byte(good), known(t))
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Outcome()
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{
		{o.Answers[0], "1"}, {o.Answers[1], "2"}, {o.Said[0], "So it begins, with 3 brokers."}, {o.Because[0], "Nobody has noticed, and vs has b1."},
	} {
		if pair[0] != pair[1] {
			t.Errorf("it says %q, want %q", pair[0], pair[1])
		}
	}
}

// What is wrong with a file is told by its line, with what is allowed.
func TestBadFiles(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new string // in good
		line     int
		says     []string
	}{
		{"unknown field", "summary: What", "sumary: What", 2, []string{`"sumary"`, "allowed are title, summary"}},
		{"missing field", "summary: What it shows.\n", "", 1, []string{"no field summary", "needed"}},
		{"unknown field inside", "name: who", "nam: who", 18, []string{`"nam"`, "allowed are name, at, decided"}},
		{"wrong type: text for a number", "end: 20", "end: soon", 7, []string{`"soon"`, "whole number from 1 to 1000"}},
		{"wrong type: list for fields", "settings: {acks: 1, rate: 0}", "settings: [1]", 6, []string{"a list", "names with their values"}},
		{"wrong type: fields for a list", "terms: [acks]", "terms: {a: b}", 4, []string{"a set of fields", "a list is allowed"}},
		{"wrong type: list for a text", "title: A title", "title: [a]", 1, []string{"a list", "a text is allowed"}},
		{"number out of range", "end: 20", "end: 2000", 7, []string{"2000", "1 to 1000"}},
		{"empty value", "ask: Who leads?", "ask:", 21, []string{"empty", "a text"}},
		{"unknown group", "group: replication", "group: misc", 3, []string{`"misc"`, "offsets and crashes"}},
		{"unknown lab", "lab: replication", "lab: replica", 1, []string{`"replica"`, "partitions, offsets"}},
		{"unknown setting", "rate: 0", "rat: 0", 6, []string{`"rat"`, "allowed are brokers"}},
		{"setting out of range", "rate: 0", "rate: 99", 6, []string{`"99"`, "0 to 10"}},
		{"settings that do not go together", "rate: 0}", "rate: 0, rf: 9, brokers: 3}", 1, []string{"rf", "replication factor of at most 3"}},
		{"unknown lesson", "terms: [acks]", "lesson: cooking", 1, []string{`"cooking"`, "no such lesson"}},
		{"unknown term", "terms: [acks]", "terms: [axe]", 1, []string{`"axe"`, "glossary"}},
		{"unknown command", "do: kill b1", "do: explode b1", 10, []string{`"explode b1"`, "allowed are abort-transaction"}},
		{"command with wrong words", "do: kill b1", "do: kill", 10, []string{"allowed is kill NODE"}},
		{"command behind the end", "{at: 5, do", "{at: 21, do", 10, []string{"tick 21", "at most 20"}},
		{"commands out of order", "{at: 5, do", "{at: 1, do", 10, []string{"tick 1", "after one at tick 2", "ascend"}},
		{"said out of order", "{at: 0, text", "{at: 6, text", 16, []string{"tick 5", "ascend"}},
		{"nothing said at the start", "{at: 0, text", "{at: 1, text", 15, []string{"tick 1", "0 is allowed"}},
		{"part out of order", "from: 0, to: 4", "from: 4, to: 0", 13, []string{"tick 0", "ascend"}},
		{"decided before it is asked", "decided: 9", "decided: 5", 18, []string{"tick 5", "after 5"}},
		{"question out of order", "    at: 10\n", "    at: 8\n", 27, []string{"tick 8", "ascend"}},
		{"question that hides an answer", "    at: 10\n", "    at: 9\n", 27, []string{"tick 9", "one before is decided"}},
		{"vs with an unknown setting", "vs: {acks", "vs: {ack", 11, []string{`"ack"`, "allowed are brokers"}},
		{"vs with its own value", "vs: {acks: all}", "vs: {acks: 1}", 1, []string{"vs", "another one"}},
		{"two vs", "vs: {acks: all}", "vs: {acks: all, rate: 1}", 11, []string{"2 pairs", "at most 1"}},
		{"show of nothing", "show: node:b1", "show: b1", 16, []string{`"b1"`, "record:PARTITION:OFFSET"}},
		{"expression that does not compile", `answer: string(partition("orders-0").leader)`, `answer: string(partition("orders-0").leade)`, 22, []string{"does not compile", "leade"}},
		{"expression with an unknown name", "${len(brokers)}", "${len(brokesr)}", 15, []string{"unknown name brokesr"}},
		{"expression of the wrong kind", `== 2'`, `+ 2'`, 42, []string{"does not compile", "bool"}},
		{"expression with a syntax error", "${len(brokers)}", "${len(brokers}", 15, []string{"does not compile", "character"}},
		{"text with an open place", "${len(brokers)}", "${len(brokers)", 15, []string{"${", "without its }"}},
		{"expression with a range", "${len(brokers)}", "${len(1..1000000)}", 15, []string{"costs too much", "range"}},
		{"expression with a variable", "${len(brokers)}", "${let a = 1; a}", 15, []string{"costs too much", "let"}},
		{"expression with a power", "${len(brokers)}", "${2 ** 64}", 15, []string{"costs too much", "powers"}},
		{"expression with deep walks", "${len(brokers)}", "${len(filter(brokers, any(brokers, any(brokers, true)))) == 1 ? 'a' : 'b'}", 15, []string{"costs too much", "3 deep"}},
		{"expression with a function that is none", "${len(brokers)}", "${repeat('a', 1000000)}", 15, []string{"unknown name repeat"}},
		{"long expression", "${len(brokers)}", "${" + strings.Repeat("1 + ", 200) + "1}", 15, []string{"at most"}},
		{"expression with many parts", "count(brokers, .state == \"running\")\n", strings.Repeat("1+", 150) + "1\n", 31, []string{"too much", "120"}},
		{"expression about what is not there", `broker("b2")`, `broker("b9")`, 36, []string{`"b9"`, "b1, b2, b3"}},
		{"answer that no choice holds", "{is: 1, text: still b1}", "{is: 3, text: b3}", 22, []string{`"1"`, "3, 2"}},
		{"number out of the range asked for", "max: 3", "max: 1", 31, []string{`"2"`, "0 to 1"}},
		{"one choice", "      - {is: 2, text: b2}\n", "", 18, []string{"1 choices", "two to six"}},
		{"choices and a number", "    because: \"Nobody", "    number: {unit: x, max: 3}\n    because: \"Nobody", 18, []string{"either"}},
		{"two equal choices", "is: 2,", "is: 1,", 25, []string{"two choices"}},
		{"two questions of a name", "name: count", "name: who", 27, []string{"two questions"}},
		{"name that is none", "name: count", "name: Count it", 27, []string{"small letters"}},
		{"expectation that does not hold", `== 2'`, `== 3'`, 42, []string{"tick 9", "does not hold"}},
		{"goal that is not reached", "do: kill b2", "do: kill b3", 36, []string{"not reached"}},
		{"goal with another number", "fewest: 1", "fewest: 2", 35, []string{"fewest is 2", "1 command"}},
		{"goal reached from the start", `reached: broker("b2").state != "running"`, `reached: 'true'`, 36, []string{"without any command"}},
		{"YAML that breaks off", "settings: {acks: 1, rate: 0}", "settings: {acks: 1", 7, []string{"not YAML"}},
		{"tabs", "  - {at: 2,", "\t- {at: 2,", 9, []string{"not YAML"}},
		{"field twice", "end: 20", "end: 20\nend: 21", 8, []string{"end"}},
		{"aliases", "terms: [acks]", "terms: &a [acks]", 4, []string{"not allowed"}},
		{"alias bomb", "terms: [acks]", "terms:\n  - &a [x, x]\n  - &b [*a, *a]\n  - [*b, *b]", 5, []string{"not allowed"}},
		{"tag", "title: A title", "title: !!str A title", 1, []string{"not allowed"}},
		{"two documents", "title: A title", "---\na: b\n---\ntitle: A title", 1, []string{"2 documents", "one"}},
		{"bytes that are not UTF-8", "What it shows.", "What \xff it shows.", 2, []string{"UTF-8"}},
		{"letter that cannot be printed", "What it shows.", `"What \u202e shows."`, 2, []string{"printed"}},
		{"many brackets", "terms: [acks]", "terms: " + strings.Repeat("[", 1000), 4, []string{"brackets"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(good, test.old) {
				t.Fatalf("%q is not in the file", test.old)
			}
			checkProblem(t, parse(t, strings.Replace(good, test.old, test.new, 1)), test.line, test.says)
		})
	}
}

// checkProblem wants a problem at a line that says what is wanted.
func checkProblem(t *testing.T, err error, line int, says []string) {
	t.Helper()
	var problems scenario.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("the error is %v, no problem of the file", err)
	}
	for _, p := range problems {
		found := p.Line == line
		for _, text := range says {
			found = found && strings.Contains(p.Text, text)
		}
		if found {
			return
		}
	}
	t.Errorf("no problem at line %d says %q:\n%v", line, says, err)
}

// A file that is too large is refused without being read as YAML.
func TestLargeFile(t *testing.T) {
	begin := time.Now()
	err := parse(t, good+strings.Repeat("# remark\n", 600_000))
	checkProblem(t, err, 1, []string{"5,4", "at most 65,536 are allowed"})
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestFileNames(t *testing.T) {
	for _, name := range []string{"Good.yaml", "good.yml", "a b.yaml", ".yaml", "a--b.yaml", strings.Repeat("a", 80) + ".yaml"} {
		if _, err := scenario.Parse(name, []byte(good), known(t)); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
}

// Every name that expressions can use of the engine's state is one that "loglab run --json" prints.
func TestNamesAreThoseOfTheCommandLine(t *testing.T) {
	t.Parallel()
	printed := map[string]bool{}
	for _, at := range []string{"offsets?t=5", "replication?t=5", "partitions?t=5", "delivery?t=5"} {
		name, query, _ := strings.Cut(at, "?")
		lab, _ := all.ByName(name)
		a, err := labs.Parse(lab, labs.Pages, query)
		if err != nil {
			t.Fatal(err)
		}
		c, err := labs.Replay(a)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(struct {
			engine.View
			Ledger engine.LedgerReport `json:"ledger"`
		}{c.View(), c.Ledger()})
		if err != nil {
			t.Fatal(err)
		}
		var state any
		if err := json.Unmarshal(text, &state); err != nil {
			t.Fatal(err)
		}
		collect(printed, state, "")
	}
	for line := range strings.Lines(scenario.Names()) {
		name, _, _ := strings.Cut(line, " ")
		if !strings.Contains(name, "(") && name != "settings" && name != "vs" && !printed[name] {
			t.Errorf("%s is in no state that is printed", name)
		}
	}
}

// collect notes the names in a value as expressions write them.
func collect(names map[string]bool, value any, name string) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			collect(names, inner, strings.TrimPrefix(name+"."+key, "."))
		}
	case []any:
		names[name+"[]"] = true
		for _, inner := range v {
			collect(names, inner, name+"[]")
		}
	default:
		names[name] = true
	}
}

func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(scenario.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	properties := schema["properties"].(map[string]any)
	for _, name := range []string{"title", "commands", "questions", "goal", "expect"} {
		if properties[name] == nil {
			t.Errorf("the schema has no %s", name)
		}
	}
	if names := scenario.Names(); !strings.Contains(names, "partitions[].replicas[].high_watermark number\n") {
		t.Errorf("the names are\n%s", names)
	}
}

// A teacher's directory is looked at again, and a wrong file leaves the rest as it is.
func TestLibraryReloads(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		scenario.LookAgain(library)
	}
	var err error
	if library, err = scenario.NewLibrary(nil, dir, known(t), discard); err != nil {
		t.Fatal(err)
	}
	names := func() string {
		list, wrong := library.All()
		text := ""
		for _, s := range list {
			text += s.Name + " "
		}
		return fmt.Sprintf("%s%d wrong", text, wrong)
	}
	if got := names(); got != "0 wrong" {
		t.Fatalf("an empty directory has %s", got)
	}
	write("one.yaml", good)
	write("two.yaml", strings.Replace(good, "end: 20", "end: soon", 1))
	write("notes.txt", "not a scenario")
	if got := names(); got != "one 1 wrong" {
		t.Errorf("there are %s", got)
	}
	if s, err := library.ByName("two"); s != nil || err == nil || !strings.Contains(err.Error(), "two.yaml:7: ") {
		t.Errorf("two is %v, %v", s, err)
	}
	write("two.yaml", strings.Replace(good, "A title", "Another", 1))
	if s, err := library.ByName("two"); err != nil || s.Title != "Another" {
		t.Errorf("two is %v, %v", s, err)
	}
	if err := os.Remove(filepath.Join(dir, "one.yaml")); err != nil {
		t.Fatal(err)
	}
	scenario.LookAgain(library)
	if got := names(); got != "two 0 wrong" {
		t.Errorf("there are %s", got)
	}
	if _, err := scenario.NewLibrary(nil, filepath.Join(dir, "nowhere"), known(t), discard); err == nil {
		t.Error("a directory that is not there is taken")
	}
}

// What is no file, cannot be read or stands behind too many others is wrong like any other, and told once.
func TestLibraryTellsOfWhatItDoesNotRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "device.yaml")); err != nil {
		t.Fatal(err)
	}
	for i := range scenario.MaxOwn {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%03d.yaml", i)), []byte("title: 1"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var told strings.Builder
	library, err := scenario.NewLibrary(nil, dir, known(t), slog.New(slog.NewTextHandler(&told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	scenario.LookAgain(library)
	if list, wrong := library.All(); len(list) != 0 || wrong != scenario.MaxOwn+2 {
		t.Errorf("%d can be shown and %d are wrong", len(list), wrong)
	}
	for name, says := range map[string]string{
		"link": "no such file", "device": "no regular file", fmt.Sprintf("s%03d", scenario.MaxOwn-1): fmt.Sprintf("at most %d files are read", scenario.MaxOwn),
	} {
		if _, err := library.ByName(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
		if n := strings.Count(told.String(), "file="+name+".yaml"); n != 1 {
			t.Errorf("the log tells of %s %d times", name, n)
		}
	}
}

// What a run's state works out for an expression it works out once, and there is an end to what can be asked of it.
func TestExpressionsAskForLittle(t *testing.T) {
	t.Parallel()
	lab, _ := all.ByName("partitions")
	a, err := labs.Parse(lab, labs.Pages, "rate=30&partitions=1&t=30")
	if err != nil {
		t.Fatal(err)
	}
	stateAt := func(a labs.Address) *scenario.State {
		t.Helper()
		state, err := scenario.StateAt(t.Context(), labs.NewRuns(64<<20), a)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	ask := func(state *scenario.State, text string) (string, error) {
		t.Helper()
		e, err := scenario.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		return e.Plain(state)
	}
	var texts []string
	for i := range 21 {
		texts = append(texts, fmt.Sprintf("'%d'", i))
	}
	for text, says := range map[string]string{
		"len(records('orders-0'))": "more than 500 records",
		"any([" + strings.Join(texts, ", ") + "], events('BatchAppended', #) < 0)": "more than 20 ways",
		"len(records('nowhere-0'))":     "no partition",
		"events('NothingHappened', '')": "no kind of event",
	} {
		state := stateAt(a)
		for range 2 { // a mistake is one however often it is made
			if _, err := ask(state, text); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", text, err, says)
			}
		}
	}
	got, err := ask(stateAt(a.WithTick(16)), "all(records('orders-0'), all(records('orders-0'), events('MessageSent', 'nowhere') == 0))")
	if err != nil || got != "true" {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzParse gives any bytes: no panic, no long work, and problems have lines of the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	for _, s := range []string{"", "a", "- - -", "a: &a [*a]", "{{{", "title: |\n  x\n", "? x\n: y", "%YAML 9\n---\n", "a: !!binary x", "\ufeffa: b"} {
		f.Add([]byte(s))
	}
	k := known(f)
	f.Fuzz(func(t *testing.T, source []byte) {
		begin := time.Now()
		s, err := scenario.Parse("fuzz.yaml", source, k)
		if took := time.Since(begin); took > 5*time.Second { // many times as long as the worst, on a busy machine too
			t.Errorf("it took %v", took)
		}
		if err == nil {
			if s.Stops() < 1 {
				t.Error("no stop")
			}
			return
		}
		var problems scenario.Problems
		if !errors.As(err, &problems) {
			t.Fatalf("%v is no problem of the file", err)
		}
		for _, p := range problems {
			if lines := strings.Count(string(source), "\n") + strings.Count(string(source), "\r") + 2; p.Line < 1 || p.Line > lines || strings.ContainsAny(p.Text, "\n\r") {
				t.Errorf("problem %q at line %d of %d", p.Text, p.Line, lines)
			}
		}
	})
}
