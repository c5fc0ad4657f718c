// Package environ keeps what a developer has set for himself out of tests.
package environ

import (
	"os"
	"strings"
)

// Unset removes the variables whose names begin with one of the prefixes from the environment of this program, and so
// of the programs that it starts from then on. A TestMain calls it before the tests: whoever uses Sluice or AWS has
// variables set that name an account, a profile or an address (SLUICE_, AWS_), and they must not change what is tested.
func Unset(prefixes ...string) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				_ = os.Unsetenv(name) // fails only for a name that cannot be one
			}
		}
	}
}
