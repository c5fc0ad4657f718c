// Package permission names the permissions that a client may hold. The routes ask for them, and the registry of clients
// grants them.
package permission

import "slices"

// Permissions of the transaction monitoring interface.
const (
	BatchUpload      = "BatchUpload"
	BatchRead        = "BatchRead"
	TransactionRead  = "TransactionRead"
	TransactionWrite = "TransactionWrite"
)

// Permissions of the entity data endpoints.
const (
	EntityDataAccessAndSearch            = "EntityDataAccessAndSearch"
	EntityDataEdit                       = "EntityDataEdit"
	EntityDataApprove                    = "EntityDataApprove"
	EntityGroupManagementAccessAndSearch = "EntityGroupManagementAccessAndSearch"
	EntityGroupManagementEdit            = "EntityGroupManagementEdit"
)

// Permissions of document management.
const (
	DocumentManagementAccess        = "DocumentManagementAccess"
	DocumentManagementCreate        = "DocumentManagementCreate"
	DocumentManagementCreateVirtual = "DocumentManagementCreateVirtual"
	DocumentManagementLink          = "DocumentManagementLink"
	DocumentManagementEdit          = "DocumentManagementEdit"
	DocumentManagementDelete        = "DocumentManagementDelete"
)

// Permissions of external authentication.
const (
	ExternalAuthenticationAccess = "ExternalAuthenticationAccess"
	ExternalAuthenticationCreate = "ExternalAuthenticationCreate"
	ExternalAuthenticationEdit   = "ExternalAuthenticationEdit"
	ExternalAuthenticationDelete = "ExternalAuthenticationDelete"
)

// Permissions of webhooks.
const (
	WebhookRead = "WebhookRead"
	WebhookEdit = "WebhookEdit"
)

// Permissions of screening.
const (
	ScreeningAccess = "ScreeningAccess"
	ScreeningCreate = "ScreeningCreate"
	ScreeningEdit   = "ScreeningEdit"

	ScreeningConfigurationCreate = "ScreeningConfigurationCreate"
	ScreeningConfigurationEdit   = "ScreeningConfigurationEdit"
	ScreeningConfigurationAccess = "ScreeningConfigurationAccess"
	ScreeningConfigurationDelete = "ScreeningConfigurationDelete"

	// ScreeningReceptor is the permission of adapters, which need no other one.
	ScreeningReceptor = "ScreeningReceptor"
)

// Permissions of policies.
const (
	PolicyConfigurationAccess  = "PolicyConfigurationAccess"
	PolicyConfigurationCreate  = "PolicyConfigurationCreate"
	PolicyConfigurationEdit    = "PolicyConfigurationEdit"
	PolicyConfigurationApprove = "PolicyConfigurationApprove"
	PolicyConfigurationArchive = "PolicyConfigurationArchive"
)

var all = []string{
	BatchUpload, BatchRead, TransactionRead, TransactionWrite,
	EntityDataAccessAndSearch, EntityDataEdit, EntityDataApprove,
	EntityGroupManagementAccessAndSearch, EntityGroupManagementEdit,
	DocumentManagementAccess, DocumentManagementCreate, DocumentManagementCreateVirtual, DocumentManagementLink,
	DocumentManagementEdit, DocumentManagementDelete,
	ExternalAuthenticationAccess, ExternalAuthenticationCreate, ExternalAuthenticationEdit,
	ExternalAuthenticationDelete,
	WebhookRead, WebhookEdit,
	ScreeningAccess, ScreeningCreate, ScreeningEdit, ScreeningConfigurationCreate, ScreeningConfigurationEdit,
	ScreeningConfigurationAccess, ScreeningConfigurationDelete, ScreeningReceptor,
	PolicyConfigurationAccess, PolicyConfigurationCreate, PolicyConfigurationEdit, PolicyConfigurationApprove,
	PolicyConfigurationArchive,
}

// All returns every permission there is.
func All() []string { return slices.Clone(all) }

// Exists reports whether there is a permission of that name.
func Exists(name string) bool { return slices.Contains(all, name) }
