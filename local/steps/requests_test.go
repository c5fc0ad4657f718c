package steps

import (
	"context"
	"net/http"
	"reflect"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/objects"
)

// requests is what steps have used that AWS charges for.
type requests struct {
	// gets and puts are requests to S3.
	gets, puts int
	// readUnits and writeUnits are those of DynamoDB by the names of tables.
	readUnits, writeUnits map[string]float64
}

// requestCounter counts the requests of the clients that it makes.
type requestCounter struct {
	mu   sync.Mutex
	used requests
}

// RoundTrip counts the requests of a client of S3.
func (c *requestCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		c.used.gets++
	case http.MethodPut, http.MethodPost:
		c.used.puts++
	}
	c.mu.Unlock()
	return http.DefaultClient.Do(r)
}

// bucket returns a client of a bucket that is counted.
func (c *requestCounter) bucket(name string) *objects.Bucket {
	cfg := s3.Copy()
	cfg.HTTPClient = &http.Client{Transport: c}
	return objects.New(cfg, name, objects.Options{PathStyle: true})
}

// database returns a client like db that is counted.
func (c *requestCounter) database(db *dynamodb.Client) *dynamodb.Client {
	count := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		middleware.InitializeOutput, middleware.Metadata, error) {
		ask := reflect.ValueOf(in.Parameters).Elem().FieldByName("ReturnConsumedCapacity")
		ask.Set(reflect.ValueOf(types.ReturnConsumedCapacityTotal))
		out, metadata, err := next.HandleInitialize(ctx, in)
		c.add(in.Parameters, out.Result, err)
		return out, metadata, err
	}
	return dynamodb.New(db.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("count", count), middleware.After)
		})
	})
}

// add counts what a request to DynamoDB has consumed. A write whose condition failed has consumed a unit.
func (c *requestCounter) add(request, response any, err error) {
	var consumed []types.ConsumedCapacity
	if err == nil {
		switch used := reflect.ValueOf(response).Elem().FieldByName("ConsumedCapacity").Interface().(type) {
		case *types.ConsumedCapacity:
			if used != nil {
				consumed = append(consumed, *used)
			}
		case []types.ConsumedCapacity:
			consumed = used
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used.readUnits == nil {
		c.used.readUnits, c.used.writeUnits = map[string]float64{}, map[string]float64{}
	}
	units := c.used.writeUnits
	switch r := request.(type) {
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.QueryInput, *dynamodb.ScanInput,
		*dynamodb.TransactGetItemsInput:
		units = c.used.readUnits
	case *dynamodb.PutItemInput:
		if _, failed := dynamo.ConditionFailed(err); failed {
			units[*r.TableName]++
		}
	case *dynamodb.UpdateItemInput:
		if _, failed := dynamo.ConditionFailed(err); failed {
			units[*r.TableName]++
		}
	}
	for _, used := range consumed {
		units[*used.TableName] += aws.ToFloat64(used.CapacityUnits)
	}
}

// take returns the numbers since the last call.
func (c *requestCounter) take() requests {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.used
	c.used = requests{}
	return used
}

// takeReads is take for the GETs and all read units.
func (c *requestCounter) takeReads() (gets int, units float64) {
	used := c.take()
	for _, n := range used.readUnits {
		units += n
	}
	return used.gets, units
}
