package client

// LocalCloud is what a running local cloud says of itself in local.json in its data folder, and in its ready file.
type LocalCloud struct {
	APIURL          string `json:"api_url"`
	TokenURL        string `json:"token_url"`
	S3URL           string `json:"s3_url"`
	DynamoDBURL     string `json:"dynamodb_url"`
	AWSEndpointURL  string `json:"aws_endpoint_url"`
	TenantID        string `json:"tenant_id"`
	ClientID        string `json:"client_id"`
	ClientSecret    string `json:"client_secret"`
	Scope           string `json:"scope"`
	Region          string `json:"region"`
	AccessKeyID     string `json:"access_key_id"`
	SecretAccessKey string `json:"secret_access_key"`
	Prefix          string `json:"prefix"` // of the names of tables and buckets
}
