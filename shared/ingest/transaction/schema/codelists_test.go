package schema

import (
	"slices"
	"testing"
)

func TestCodeLists(t *testing.T) {
	for _, list := range []struct {
		name  string
		codes []string
		width int
		want  int
	}{
		{"countries", Countries(), 2, 249 + 5},
		{"currencies", Currencies(), 3, 178 + 65},
	} {
		t.Run(list.name, func(t *testing.T) {
			if distinct := slices.Compact(slices.Clone(list.codes)); len(list.codes) != list.want ||
				len(distinct) != list.want {
				t.Errorf("got %d codes, %d of them distinct, want %d", len(list.codes), len(distinct), list.want)
			}
			for _, code := range list.codes {
				if len(code) != list.width {
					t.Errorf("got %q, want a code of %d letters", code, list.width)
				}
			}
		})
	}
}
