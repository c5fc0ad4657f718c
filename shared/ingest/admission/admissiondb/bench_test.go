package admissiondb_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/kit/dynamo/dynamotest"
)

// distant is a connection to a server that is as far away as one on AWS.
type distant struct{ http.RoundTripper }

func (d distant) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(admissiontest.CallTime)
	return d.RoundTripper.RoundTrip(r)
}

// BenchmarkGate measures how many batches a gate on the local server takes in a second, when they come all at once. The
// processor decides about it, which all of them share with the server; see admission.TestGateAdmits250BatchesASecond.
func BenchmarkGate(b *testing.B) {
	options := dynamotest.Start(b).Options()
	options.HTTPClient = &http.Client{Transport: distant{&http.Transport{MaxIdleConnsPerHost: 1000}}}
	queue := admissiondb.New(dynamodb.New(options), table)
	b.ResetTimer()
	half, most := admissiontest.PassGate(b, queue, b.N, 300, 100, 100*time.Millisecond)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
	b.ReportMetric(half.Seconds(), "s-half")
	b.ReportMetric(most.Seconds(), "s-most")
}
