package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Schema gives the JSON Schema (2020-12) of a file. Editors go by it; [Parse] looks at more.
func Schema() []byte {
	root := schemaOf(reflect.TypeFor[File](), "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Log Lab scenario"
	root["description"] = "A story along a run of a lab. Expressions are in the language of expr-lang.org, over these names:\n" + Names()
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // it is made of maps and strings
	}
	return append(text, '\n')
}

// schemaOf gives the schema of a type under the tags of its field.
func schemaOf(t reflect.Type, tag reflect.StructTag) map[string]any {
	s := map[string]any{}
	if doc := tag.Get("doc"); doc != "" {
		s["description"] = doc
	}
	bound := func(name, key string) {
		if n, err := strconv.Atoi(tag.Get(key)); err == nil {
			s[name] = n
		}
	}
	switch t {
	case reflect.TypeFor[Scalar]():
		s["type"] = []string{"string", "number", "boolean"}
		return s
	case reflect.TypeFor[Text]():
		s["type"] = "string"
		bound("maxLength", "max")
		return s
	case reflect.TypeFor[*Expression]():
		s["type"] = []string{"string", "number", "boolean"}
		s["maxLength"] = maxExpression
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), tag)
	case reflect.String:
		s["type"] = "string"
		if one := tag.Get("oneof"); one != "" {
			s["enum"] = strings.Split(one, "|")
		}
		bound("maxLength", "max")
	case reflect.Int:
		s["type"] = "integer"
		bound("minimum", "min")
		bound("maximum", "max")
	case reflect.Slice:
		s["type"], s["items"] = "array", schemaOf(t.Elem(), "")
		bound("maxItems", "max")
	case reflect.Map:
		s["type"], s["additionalProperties"] = "object", schemaOf(t.Elem(), "")
		bound("maxProperties", "max")
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for _, f := range fieldsOf(t) {
			name := f.Tag.Get("yaml")
			properties[name] = schemaOf(f.Type, f.Tag)
			if f.Tag.Get("need") != "" {
				required = append(required, name)
			}
		}
		s["type"], s["properties"], s["required"], s["additionalProperties"] = "object", properties, required, false
	}
	return s
}

// Names lists what an expression can name, one a line with its type: "partitions[].leader number".
func Names() string {
	var b strings.Builder
	namesIn(&b, reflect.TypeFor[State](), "")
	return b.String()
}

func namesIn(b *strings.Builder, t reflect.Type, prefix string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := prefix + f.Tag.Get("expr")
		switch f.Type.Kind() {
		case reflect.Func:
			fmt.Fprintf(b, "%s(%s) %s\n", name, strings.Repeat(", text", f.Type.NumIn())[2:], kindName(f.Type.Out(0)))
		case reflect.Slice:
			if f.Type.Elem().Kind() == reflect.Struct {
				namesIn(b, f.Type.Elem(), name+"[].")
				continue
			}
			fmt.Fprintf(b, "%s[] %s\n", name, kindName(f.Type.Elem()))
		case reflect.Struct:
			namesIn(b, f.Type, name+".")
		case reflect.Pointer:
			fmt.Fprintf(b, "%s the same of the second run\n", name)
		default:
			fmt.Fprintf(b, "%s %s\n", name, kindName(f.Type))
		}
	}
}

// kindName says what a value is.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "number"
	case reflect.Bool:
		return "true or false"
	case reflect.Map:
		return "text by name"
	case reflect.Slice:
		return "list of " + kindName(t.Elem())
	case reflect.Struct:
		return strings.ToLower(t.Name())
	}
	return "text"
}
