package client

// Alert is a hit: the name of an unknown entity of a line, and an entry of a list that is like it.
type Alert struct {
	// Line is the number of the line in the file, from 1.
	Line int64 `json:"line"`
	// TransactionExternalID and ModificationExternalID are those of the line, and ExternalID is that of the unknown
	// entity; nil where there is none that can be read.
	TransactionExternalID  *string `json:"transaction_external_id"`
	ModificationExternalID *string `json:"modification_external_id"`
	// Role is sender, receiver, sending_partner or receiving_partner.
	Role       string  `json:"role"`
	ExternalID *string `json:"external_id"`
	// FullName is the name as it was screened: without white space around it.
	FullName string `json:"full_name"`
	// List, ListVersion, EntryID and EntryName are the entry.
	List        string `json:"list"`
	ListVersion string `json:"list_version"`
	EntryID     string `json:"entry_id"`
	EntryName   string `json:"entry_name"`
	// Score is 0 to 100, and Explanation says which words met which.
	Score       float64 `json:"score"`
	Explanation string  `json:"explanation"`
}
