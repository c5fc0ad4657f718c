package policyhttp

import (
	"fmt"
	"net/url"
	"strings"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy"
	"sluice/shared/policy/formula"
)

// Codes of validation errors that only policies have. docs/errors.md explains them.
const (
	// CodeCompile means that a version cannot be compiled with the value.
	CodeCompile = "PolicyValidator"
	// CodeFormula means that a formula cannot be parsed.
	CodeFormula = "FormulaValidator"
	// CodeRegex means that a regular expression cannot be compiled.
	CodeRegex = "RegularExpressionValidator"
	// CodeVersion means that the version of the number cannot be used here.
	CodeVersion = "VersionValidator"
	// CodePrimary means that a primary field is not among the fields.
	CodePrimary = "PrimaryFieldValidator"
	// CodeSameID means that the ID in a body differs from the ID in the path.
	CodeSameID = "IdValidator"
)

// Limits of bodies, in characters unless they say otherwise.
const (
	maxCategory     = 250
	maxDescription  = 1200
	maxDefaultValue = 500
	maxNote         = 2000
	maxURL          = 2000
	// maxItems is the largest number of tags, references, categories or layers of a field.
	maxItems = 100
	// maxConditions is the largest number of conditions, conditional values or dynamic rules in one list.
	maxConditions = 100
	// maxOperands is the largest number of operands of one condition on one level.
	maxOperands = 200
)

// FieldRequest is a field of a policy or of a data group.
type FieldRequest struct {
	policy.Field
}

// Check validates the data of a field of a policy.
func (in *FieldRequest) Check(v *platform.ValidationErrors) {
	checkField(v, "", in.Field)
	v.RequireValue("categories", len(in.Categories) > 0)
}

// join returns the path of a property inside another one; "" is the data itself.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// checkField validates a field of a policy or of a data group.
func checkField(v *platform.ValidationErrors, path string, f policy.Field) {
	at := func(name string) string { return join(path, name) }
	if f.ID != "" {
		v.RequireUUID(at("fieldId"), f.ID)
	}
	if f.Version != 0 {
		v.Add(at("fieldVersion"), "The version cannot be chosen. Leave it out.", codeForbidden)
	}
	v.RequireText(at("name"), f.Name, policy.MaxNameLength)
	v.RequireText(at("dataKey"), f.DataKey, policy.MaxNameLength)
	v.CheckText(at("description"), f.Description, maxDescription)
	v.RequireText(at("fieldType"), f.FieldType, platform.MaxName)
	v.CheckText(at("fieldTypeId"), f.FieldTypeID, platform.MaxName)
	if f.HasDataGroup() {
		v.RequireUUID(at("fieldTypeId"), f.FieldTypeID)
	}
	v.CheckText(at("linkChildFieldDataKey"), f.LinkChildFieldDataKey, policy.MaxNameLength)
	v.CheckText(at("linkedParentFieldDataKey"), f.LinkedParentFieldDataKey, policy.MaxNameLength)
	v.CheckOptionalText(at("defaultValue"), f.DefaultValue, maxDefaultValue)
	for name, text := range inOrder("dataProtectionJurisdictionId", f.DataProtectionJurisdictionID, "classification",
		f.Classification, "uiDecoration", f.UIDecoration, "uiDecorationColor", f.UIDecorationColor,
		"externalSearchApiProviderId", f.ExternalSearchAPIProviderID) {
		v.CheckText(at(name), text, platform.MaxName)
	}
	checkScope(v, path, f)
	checkReferences(v, at("references"), f.References)
	checkConditions(v, at("conditions"), f.Conditions)
	checkConditionalValues(v, at("conditionalValues"), f.ConditionalValues)
	checkRules(v, at("validationRules"), f.ValidationRules)
	checkFormulas(v, path, f)
}

// inOrder yields the pairs of a list of names and texts.
func inOrder(pairs ...string) func(yield func(name, text string) bool) {
	return func(yield func(name, text string) bool) {
		for i := 0; i < len(pairs); i += 2 {
			if !yield(pairs[i], pairs[i+1]) {
				return
			}
		}
	}
}

// checkScope validates the members that select the entities and callers of a field.
func checkScope(v *platform.ValidationErrors, path string, f policy.Field) {
	at := func(name string) string { return join(path, name) }
	checkTexts(v, at("tags"), f.Tags, maxItems, platform.MaxName)
	checkTexts(v, at("categories"), f.Categories, maxItems, maxCategory)
	v.CheckUnique(at("categories"), f.Categories)
	if v.CheckCount(at("targetEntities"), len(f.TargetEntities), len(policy.TargetEntities)) {
		for i, e := range f.TargetEntities {
			v.RequireOneOf(fmt.Sprintf("%s.%d", at("targetEntities"), i), e, policy.TargetEntities...)
		}
		v.CheckUnique(at("targetEntities"), f.TargetEntities)
	}
	v.CheckUUIDs(at("jurisdictionIds"), f.JurisdictionIDs, policy.MaxJurisdictions)
	if l := f.AccessLayers; l != nil {
		v.CheckNames(at("accessLayers.geographic"), l.Geographic, maxItems)
		v.CheckNames(at("accessLayers.businessRelated"), l.BusinessRelated, maxItems)
	}
}

// checkTexts checks that a list has at most most items, each of 1 to maxChars characters.
func checkTexts(v *platform.ValidationErrors, property string, texts []string, most, maxChars int) {
	if !v.CheckCount(property, len(texts), most) {
		return
	}
	for i, text := range texts {
		v.RequireText(fmt.Sprintf("%s.%d", property, i), text, maxChars)
	}
}

// checkReferences checks references. Their addresses are links that people click, so only http and https are accepted.
func checkReferences(v *platform.ValidationErrors, property string, references []policy.Reference) {
	if !v.CheckCount(property, len(references), maxItems) {
		return
	}
	for i, ref := range references {
		path := fmt.Sprintf("%s.%d", property, i)
		requireMembers(v, path, ref)
		v.CheckText(path+".type", ref.Type, platform.MaxName)
		v.CheckText(path+".description", ref.Description, maxDescription)
		v.CheckText(path+".url", ref.URL, maxURL)
		if ref.URL == "" {
			continue
		}
		u, err := url.Parse(ref.URL)
		if err != nil || !strings.EqualFold(u.Scheme, "https") && !strings.EqualFold(u.Scheme, "http") || u.Host == "" {
			v.Add(path+".url", "The value must be an absolute URL that begins with https:// or http://.",
				platform.CodeURL)
		}
	}
}

// checkFormulas checks the sizes of what calculates a field.
func checkFormulas(v *platform.ValidationErrors, path string, f policy.Field) {
	check := func(path, id, text string, version int64, variables []string, isRequired bool) {
		v.CheckText(path+".formulaSetId", id, platform.MaxName)
		if version < 0 {
			v.Add(path+".versionNumber", "The value must not be negative.", platform.CodeRange)
		}
		if v.CheckText(path+".formulaString", text, formula.MaxLength); isRequired {
			v.RequireValue(path+".formulaString", text != "")
		}
		checkTexts(v, path+".formulaVariables", variables, maxItems, policy.MaxNameLength)
	}
	if s := f.FormulaSchema; s != nil {
		check(join(path, "formulaSchema"), s.FormulaSetID, s.FormulaString, s.VersionNumber, s.FormulaVariables, true)
	}
	if s := f.DateTimePeriodFormulaSchema; s != nil {
		check(join(path, "dateTimePeriodFormulaSchema"), s.FormulaSetID, s.FormulaString, s.VersionNumber,
			s.FormulaVariables, false)
	}
}
