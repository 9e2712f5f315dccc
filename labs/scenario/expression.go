package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"loglab/engine/kafka"
)

// Bounds of an expression. A list that an expression walks has at most a few hundred items, and what a state works out
// for an expression it works out once, so these bound its time too: at worst the product of two such lists, times the
// parts of the expression.
const (
	maxExpression = 500    // bytes
	maxNodes      = 120    // parts
	maxNested     = 2      // walks within each other
	maxCells      = 50_000 // values that lists made on the way may hold
)

// functions are those of the language that an expression may use.
var functions = []string{"len", "all", "any", "none", "one", "filter", "map", "count", "sum", "min", "max", "abs", "first", "last", "find", "findIndex", "sort", "sortBy", "uniq", "string", "join", "concat"}

// Expression is a question to the state of a run, compiled.
type Expression struct {
	Text string
	Line int // in its file, where it begins

	program *vm.Program
}

// wanted says what an expression has to give.
type wanted string

const (
	wantBool  wanted = "true or false"
	wantPlain wanted = "a text, a number or true or false"
)

// compile reads an expression; the error is what is wrong with it, as a sentence.
func compile(text string, want wanted) (*vm.Program, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("the expression has %s bytes: at most %d are allowed", kafka.Thousands(int64(len(text))), maxExpression)
	}
	guard := &guard{}
	options := []expr.Option{expr.Env(State{}), expr.MaxNodes(maxNodes), expr.DisableAllBuiltins(), expr.Patch(guard), expr.Optimize(false)}
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	if want == wantBool {
		options = append(options, expr.AsBool())
	}
	program, err := expr.Compile(text, options...)
	switch {
	case guard.found != "":
		return nil, fmt.Errorf("the expression costs too much: %s", guard.found)
	case err != nil:
		return nil, fmt.Errorf("the expression does not compile: %s", sentenceOf(err))
	}
	nested := &walks{}
	if nested.count(program.Node(), 0); nested.most > maxNested {
		return nil, fmt.Errorf("the expression costs too much: it walks lists within each other, %d deep; at most %d are allowed", nested.most, maxNested)
	}
	return program, nil
}

// sentenceOf gives the message of the compiler with the place, on one line.
func sentenceOf(err error) string {
	var at *file.Error
	if strings.Contains(err.Error(), "maximum allowed nodes") {
		return fmt.Sprintf("it costs too much: more than %d parts", maxNodes)
	}
	if !errors.As(err, &at) {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return first
	}
	return fmt.Sprintf("%s (at its character %d)", at.Message, at.Column+1)
}

// guard looks for what would make an expression cost more than it shows.
type guard struct{ found string }

// Visit looks at one part.
func (g *guard) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		switch n.Operator {
		case "..":
			g.found = "a range from .. to is not allowed"
		case "**", "^":
			g.found = "powers are not allowed"
		case "matches":
			g.found = "matches is not allowed; contains, startsWith and endsWith are"
		}
	case *ast.VariableDeclaratorNode:
		g.found = "let is not allowed"
	}
}

// walks counts how deep lists are walked within each other.
type walks struct{ most int }

func (w *walks) count(node ast.Node, deep int) {
	if p, ok := node.(*ast.PredicateNode); ok {
		deep++
		w.most = max(w.most, deep)
		w.count(p.Node, deep)
		return
	}
	for _, child := range childrenOf(node) {
		w.count(child, deep)
	}
}

// childrenOf lists the parts of a part.
func childrenOf(node ast.Node) []ast.Node {
	switch n := node.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.SliceNode:
		return slices.DeleteFunc([]ast.Node{n.Node, n.From, n.To}, func(x ast.Node) bool { return x == nil })
	case *ast.CallNode:
		return append([]ast.Node{n.Callee}, n.Arguments...)
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	case *ast.SequenceNode:
		return n.Nodes
	}
	return nil
}

// run asks the state; the error is a sentence.
func (e Expression) run(s *State) (any, error) {
	machine := vm.VM{MemoryBudget: maxCells}
	result, err := machine.Run(e.program, *s)
	if err != nil {
		return nil, fmt.Errorf("the expression cannot be answered at tick %d: %s", s.Tick, sentenceOf(err))
	}
	return result, nil
}

// Plain asks the state for a text, a number or a bool, and gives it as a text.
func (e Expression) Plain(s *State) (string, error) {
	result, err := e.run(s)
	if err != nil {
		return "", err
	}
	switch v := result.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", fmt.Errorf("the expression gives %T: %s is allowed", result, wantPlain)
}

// Holds asks the state for true or false.
func (e Expression) Holds(s *State) (bool, error) {
	result, err := e.run(s)
	if err != nil {
		return false, err
	}
	is, ok := result.(bool)
	if !ok {
		return false, fmt.Errorf("the expression gives %T: %s is allowed", result, wantBool)
	}
	return is, nil
}
