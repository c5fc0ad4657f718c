package evaluate

// Limits of a version as a whole. They are far beyond what policies need. Programs of many tenants are in the memory of
// one function, so no version may fill it.
const (
	// maxOperands is how many operands a version can have.
	maxOperands = 10_000
	// maxConditions is how many conditions it can have, those of conditional values and dynamic rules included.
	maxConditions = 20_000
	// maxAllValues is how many values its operands can be compared with, all together.
	maxAllValues = 200_000
	// maxNodes is how many operations, numbers and fields its formulas can have.
	maxNodes = 100_000
	// maxPatterns is the largest total size of its regular expressions. Equal ones count once.
	maxPatterns = 500_000
)

// budget counts things of one kind in a version, such as operands, against their limit. Those of a data group count
// once for each field that refers to the group.
type budget struct {
	// what is the plural of the thing.
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
	c.report(path, "A version has at most %d %s, those of its data groups included, once for each field that refers "+
		"to the group.", b.limit, b.what)
	return false
}
