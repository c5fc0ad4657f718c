// Package receipt makes and verifies the receipts of batches: signed statements of what was received and what was
// accepted, which anyone who has the file and the published keys can check without the service.
package receipt
