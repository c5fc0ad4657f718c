// Package evaluate evaluates a version of a policy for an entity: which fields it has, which values they get, and what
// is wrong with the values that are there. The package knows neither HTTP nor AWS.
//
// # Two steps
//
// Compile turns the contents of a version into a Program, once. A Program is immutable; any number of requests are
// evaluated with it at the same time. Everything that does not depend on the request is decided by Compile: which data
// groups a field has (compile.go), the lookups and comparisons of its conditions (condition.go, operand.go,
// operation.go), the checks of its rules (rules.go, ruletable.go, rulechecks.go), and the order of calculation of
// formulas (fieldvalues.go). A version that is too large or that makes no sense is refused with Problems.
//
// Program.Evaluate makes an evaluation, the state of one request, and goes through the fields in the order of the
// result (evaluate.go). It finds the fields that are shown (show.go), sets their values (fieldvalues.go), resolves
// their rules (resolve.go), validates their values (validate.go) and puts the parts together (evaluatefield.go,
// collection.go). Normalize and ReadOnly turn a Result into its two other forms.
//
// # How values are looked up
//
// A compiled operand does not search for its value each time. It has a ref, a slot in a frame (frame.go). Frame 0 is
// the request; each collection, and each operand with any, all or none, has a frame of its own whose root is the item
// that is looked at. Reading a ref for the first time walks through nodes (node.go), the properties of the entity or
// parts of a data source, and leaves a reading in the slot; setRoot makes the readings of a frame invalid. The results
// of conditions that do not depend on an item are remembered as memos.
//
// # What callers may not see
//
// A data key whose layers the caller lacks is hidden (masking.go): a condition that would read it is not met, and a
// formula that needs it has no result. Nothing in a reply depends on a hidden value.
package evaluate
