package labs

import (
	"reflect"

	"loglab/labs/view"
)

// sizeOf gives about the bytes of memory that a page takes. Text that pages share counts for each.
func sizeOf(p *view.Page) int64 { return sizeOfValue(reflect.ValueOf(p)) }

func sizeOfValue(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return 0
		}
		return int64(v.Elem().Type().Size()) + sizeOfValue(v.Elem())
	case reflect.String:
		return int64(v.Len())
	case reflect.Slice:
		size := int64(v.Cap()) * int64(v.Type().Elem().Size())
		if !refers(v.Type().Elem()) {
			return size
		}
		for i := range v.Len() {
			size += sizeOfValue(v.Index(i))
		}
		return size
	case reflect.Struct:
		size := int64(0)
		for i := range v.NumField() {
			size += sizeOfValue(v.Field(i))
		}
		return size
	}
	return 0
}

// refers says whether values of a type may hold memory besides themselves.
func refers(t reflect.Type) bool { return t.Kind() > reflect.Complex128 }
