// Package catalog holds the watchlists of an installation: immutable versions of each list, shared by all tenants or
// owned by one tenant, and the pointer to its current version. Package catalog/catalogdb stores versions and pointers;
// entries and indexes are objects.
//
// A function screens names by a Loader, which package screeningsetup makes in one line:
//
//	lists := screeningsetup.NewWatchlists(env) // once, in main; it needs TABLE_WATCHLISTS and BUCKET_WORK
//
//	loaded, err := lists.Current(ctx, tenant, nil)         // the tenant's active lists, or those that are named
//	hits, err := catalog.NewScreener(loaded...).Screen(match.Query{Name: name}, match.Threshold)
//
// The tenant comes from the caller's token. A Loaded has the version, the date of the source and the age of its list.
// Its VersionRef pins the version for a batch: Loader.Open opens the same version again. A Screener is for one
// goroutine at a time; any number of them may share loaded lists. Nothing has to be closed.
//
// The function's policies need dynamodb:GetItem and dynamodb:Query on the table, and s3:GetObject on the objects below
// KeyPrefix of the bucket.
package catalog
