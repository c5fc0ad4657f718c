// Package propertytest provides properties for tests.
package propertytest

import "sluice/shared/platform/property"

// EveryKind returns a property of each kind, with every field set.
func EveryKind() map[string]property.Property {
	return map[string]property.Property{
		"single": {Type: property.Single, Value: new("value"), ValueID: new("value id")},
		"collection": {Type: property.Collection, DataGroupID: "group", DataGroupVersionNumber: new(int64(2)),
			Collections: map[string]property.Item{"item": {
				Properties:     map[string]*string{"key": new("value")},
				PropertiesInfo: map[string]property.Info{"key": {ValueID: new("value id")}}, IsValid: new(true),
			}}},
		"custom": {Type: property.Custom, CustomTypeID: "custom type",
			Properties: map[string]property.Property{"inner": {Type: property.Single, Value: new("inner value")}}},
	}
}
