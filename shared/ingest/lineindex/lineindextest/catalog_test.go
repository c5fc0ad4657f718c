package lineindextest

import "testing"

func TestCatalogConforms(t *testing.T) { Conform(t, NewCatalog()) }
