package pattern

import (
	"strings"
	"testing"
)

// BenchmarkMatch matches the most expensive admitted patterns and values.
func BenchmarkMatch(b *testing.B) {
	for name, worst := range map[string]string{
		"threads":     `^(?:` + strings.Repeat("a?", 250) + `)(?:` + strings.Repeat("a|", 200) + `b)*c$`,
		"repetitions": `^([ab]{0,20}){0,40}c$`,
		"many ends":   `(?:[ab]{1,900}c){1}`,
		"classes":     `(?i)\p{L}{0,900}\p{Greek}$`,
		"usual":       `^[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}$`,
	} {
		p, err := Compile(worst, true)
		if err != nil {
			b.Fatal(name, err)
		}
		value := strings.Repeat("a", MaxValueLength)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Match(value)
			}
		})
	}
}
