package screeninghttp

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/externalauth"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

const (
	// maxAdapterURL is the longest URL of an adapter, in characters.
	maxAdapterURL = 2048
	// maxDescription is the longest description of a set, in characters.
	maxDescription = 1000
)

// providerIDPattern matches IDs that stand in paths and headers as they are.
var providerIDPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ProviderConfigurationRequest is the data of a new provider.
type ProviderConfigurationRequest struct {
	ID                       string          `json:"id"`
	Name                     string          `json:"name"`
	AdapterConfiguration     *AdapterRequest `json:"adapterConfiguration"`
	AdditionalSettingsSchema []FieldRequest  `json:"additionalSettingsSchema"`
	DefaultConfigurationSet  *SetRequest     `json:"defaultConfigurationSet"`
	ValidityDays             *int            `json:"validityDays"`
}

// ReplaceProviderRequest is the new data of a provider. The ID may be absent.
type ReplaceProviderRequest struct{ ProviderConfigurationRequest }

// AdapterRequest is how the adapter of a provider is reached.
type AdapterRequest struct {
	URL                  string `json:"url"`
	AuthenticationActive bool   `json:"authenticationActive"`
	AuthenticationKey    string `json:"authenticationKey"`
	EncryptionKey        string `json:"encryptionKey"`
}

// FieldRequest describes a setting of a provider.
type FieldRequest struct {
	FieldID   string `json:"fieldId"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	EnabledBy string `json:"enabledBy"`
	Mandatory bool   `json:"mandatory"`
}

// SchemaRequest is the data of a new schema of settings.
type SchemaRequest struct {
	AdditionalSettingsSchema []FieldRequest `json:"additionalSettingsSchema"`
}

// SetRequest is a set of settings.
type SetRequest struct {
	Name               string              `json:"name"`
	Description        string              `json:"description"`
	AdditionalSettings []screening.Setting `json:"additionalSettings"`
}

// Check validates the data.
func (in *ProviderConfigurationRequest) Check(v *platform.ValidationErrors) {
	v.RequireText("id", in.ID, screening.MaxProviderID)
	switch {
	case in.ID == "":
	case !providerIDPattern.MatchString(in.ID):
		v.Add("id", "The value must consist of letters, digits, dots, hyphens and underscores, and begin with a "+
			"letter or a digit.", CodeProvider)
	case strings.EqualFold(in.ID, screening.BuiltIn):
		v.Add("id", "This is the ID of the built-in provider.", CodeProvider)
	}
	in.check(v)
}

// Check validates the data.
func (in *ReplaceProviderRequest) Check(v *platform.ValidationErrors) { in.check(v) }

func (in *ProviderConfigurationRequest) check(v *platform.ValidationErrors) {
	v.RequireText("name", in.Name, platform.MaxName)
	in.AdapterConfiguration.check(v, "adapterConfiguration")
	checkFields(v, in.AdditionalSettingsSchema)
	v.RequireValue("defaultConfigurationSet", in.DefaultConfigurationSet != nil)
	if set := in.DefaultConfigurationSet; set != nil {
		set.check(v, "defaultConfigurationSet.")
	}
	if in.ValidityDays != nil {
		v.CheckBetween("validityDays", *in.ValidityDays, screening.MinValidityDays, screening.MaxValidityDays)
	}
}

func (in *AdapterRequest) check(v *platform.ValidationErrors, path string) {
	if in == nil {
		return
	}
	v.RequireText(path+".url", in.URL, maxAdapterURL)
	if in.URL != "" {
		if _, err := externalauth.CanonicalURL(in.URL); err != nil {
			text := err.Error()
			v.Add(path+".url", strings.ToUpper(text[:1])+text[1:]+".", platform.CodeURL)
		}
	}
	v.RequireValue(path+".authenticationKey", in.AuthenticationKey != "" || !in.AuthenticationActive)
	v.RequireValue(path+".encryptionKey", in.EncryptionKey != "" || !in.AuthenticationActive)
	checkKey(v, path+".authenticationKey", in.AuthenticationKey, adapter.MinAuthenticationKeyBytes,
		adapter.MaxAuthenticationKeyBytes)
	checkKey(v, path+".encryptionKey", in.EncryptionKey, adapter.EncryptionKeyBytes, adapter.EncryptionKeyBytes)
	if in.EncryptionKey != "" && !in.AuthenticationActive {
		v.Add(path+".encryptionKey", "Messages that are encrypted must be authenticated as well, so that nobody "+
			"can change them: set authenticationActive and authenticationKey.", CodeKey)
	}
}

// checkKey checks the form of a key that is not a mask. Its message does not contain the key.
func checkKey(v *platform.ValidationErrors, property, text string, low, high int) {
	if text == "" || externalauth.Secret(text).IsMasked() {
		return
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	size := fmt.Sprintf("%d bytes", high)
	if low < high {
		size = fmt.Sprintf("%d to %d bytes", low, high)
	}
	if err != nil || len(key) < low || len(key) > high || strings.ContainsAny(text, "\r\n") {
		v.Add(property, "The value must be the standard Base64 of "+size+".", CodeKey)
	}
}

// Check validates the data.
func (in *SchemaRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue(schemaProperty, in.AdditionalSettingsSchema != nil)
	checkFields(v, in.AdditionalSettingsSchema)
}

// schemaProperty is the property of the schema of settings.
const schemaProperty = "additionalSettingsSchema"

// checkFields checks each field of a schema by itself.
func checkFields(v *platform.ValidationErrors, fields []FieldRequest) {
	if !v.CheckCount(schemaProperty, len(fields), screening.MaxFields) {
		return
	}
	var types []string
	for _, t := range screening.SettingTypes {
		types = append(types, string(t))
	}
	for i, f := range fields {
		at := fmt.Sprintf("%s.%d", schemaProperty, i)
		v.RequireText(at+".fieldId", f.FieldID, platform.MaxName)
		v.RequireText(at+".name", f.Name, platform.MaxName)
		v.RequireOneOf(at+".type", f.Type, types...)
		v.CheckText(at+".enabledBy", f.EnabledBy, platform.MaxName)
	}
}

// check checks a set by itself. path is "" or ends with a dot.
func (in *SetRequest) check(v *platform.ValidationErrors, path string) {
	v.RequireText(path+"name", in.Name, platform.MaxName)
	v.RequireText(path+"description", in.Description, maxDescription)
	checkSettings(v, path+"additionalSettings", in.AdditionalSettings)
}

func checkSettings(v *platform.ValidationErrors, path string, settings []screening.Setting) {
	if !v.CheckCount(path, len(settings), screening.MaxFields) {
		return
	}
	for i, s := range settings {
		v.RequireText(fmt.Sprintf("%s.%d.fieldId", path, i), s.FieldID, platform.MaxName)
		v.CheckText(fmt.Sprintf("%s.%d.value", path, i), s.Value, screening.MaxSettingChars)
	}
}

// addSettingProblems adds the problems of a list of fields or settings.
func addSettingProblems(v *platform.ValidationErrors, path string, problems []screening.SettingProblem) {
	for _, p := range problems {
		property := path
		if p.Index >= 0 {
			property = fmt.Sprintf("%s.%d.%s", path, p.Index, p.Property)
		}
		v.Add(property, p.Message, CodeSetting)
	}
}

// apply returns a provider with the data of the request. It keeps its ID and its sets but the default one, which keeps
// its own ID.
func (in *ProviderConfigurationRequest) apply(p screening.Provider) screening.Provider {
	p.Name, p.Adapter, p.ValidityDays = in.Name, in.AdapterConfiguration.adapter(), 0
	p.Fields = fieldsOf(in.AdditionalSettingsSchema)
	p.Sets[0] = in.DefaultConfigurationSet.set(p.Sets[0].ID)
	if in.ValidityDays != nil {
		p.ValidityDays = *in.ValidityDays
	}
	return p
}

func (in *AdapterRequest) adapter() *screening.Adapter {
	if in == nil {
		return nil
	}
	return &screening.Adapter{URL: in.URL, IsAuthenticationActive: in.AuthenticationActive,
		AuthenticationKey: externalauth.Secret(in.AuthenticationKey),
		EncryptionKey:     externalauth.Secret(in.EncryptionKey)}
}

func fieldsOf(fields []FieldRequest) []screening.SettingField {
	var out []screening.SettingField
	for _, f := range fields {
		out = append(out, screening.SettingField{ID: f.FieldID, Name: f.Name, Type: screening.SettingType(f.Type),
			EnabledBy: f.EnabledBy, IsMandatory: f.Mandatory})
	}
	return out
}

func (in *SetRequest) set(id string) screening.ConfigurationSet {
	return screening.ConfigurationSet{ID: id, Name: in.Name, Description: in.Description,
		Settings: in.AdditionalSettings}
}
