package evaluate

// Limits of a version as a whole. They are far beyond what policies need. Programs of many tenants are in the memory of
// one function, so no version may fill it.
const (
	// maxOperands is the largest number of operands of a version.
	maxOperands = 10_000
	// maxConditions is the largest number of conditions, including conditional values and dynamic rules.
	maxConditions = 20_000
	// maxAllValues is the largest number of values of all operands together.
	maxAllValues = 200_000
	// maxNodes is the largest number of operations, numbers and fields in all formulas.
	maxNodes = 100_000
	// maxPatterns is the largest total size of its regular expressions. Equal ones count once.
	maxPatterns = 500_000
)

// budget counts things of one kind in a version, such as operands, against their limit. Those of a data group count
// once for each field that refers to the group.
type budget struct {
	// what is the plural name of the counted things.
	what        string
	limit, used int
}

// isSpent reports whether the version has more than it may have, which has been reported.
func (b *budget) isSpent() bool { return b.used > b.limit }

// spend counts n more things at a path of the field, and returns whether the version may have them. The first time that
// it may not, spend reports a problem.
func (c *compiler) spend(b *budget, n int, path string) bool {
	if b.isSpent() {
		return false
	}
	if b.used += n; b.used <= b.limit {
		return true
	}
	c.report(path, "A version has at most %d %s, including its data groups, once for each field that refers "+
		"to the group.", b.limit, b.what)
	return false
}
