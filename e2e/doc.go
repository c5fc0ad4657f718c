// Package e2e tests the service as its clients see it: by HTTP, signed URLs and the command line. Good paths use
// package client, bad input is sent by raw calls. The suite knows the environment that it tests only by addresses and
// credentials (docs/environments.md).
//
// # Words of the harness
//
// Environment is a place where the service runs. Most tests share one; tests that need other settings of the service
// share a local cloud for each set of settings (sharedCloud), and few start one of their own (newCloud). What a test
// needs and not every environment has is a capability: skipWithout skips a test without it, supports leaves out a part.
//
// A session is one client of a tenant. begin, beginTenant and beginBatchTenant begin a test that runs beside others and
// open its session: of the environment's own tenant, of a new one, or of a new one that may use batches. in returns the
// session for a part of its test. Through a session go
//
//   - calls of the API: call sends a request and returns a reply; expect, expectReply and expectProblem also check it.
//     mustCall and callFor call a platform interface, whose replies have an envelope, and return its data;
//   - batches: startBatch uploads a file, follow and expectEnd wait for the end of a batch, expectProcess does both;
//   - commands of the command line: run and runFor run one to its end, startCommand starts one, runGuide runs the
//     commands of a page of the documentation.
//
// A receiver stands for the HTTPS server of a tenant. Its requests are what the service has sent.
//
// Behind the API, an environment lets a test invoke functions, run what schedules run (sweep), read and write items of
// tables, stop executions, and read the logs of a local cloud (eachLine, auditTrail, busEvents). A killRule has a
// function killed at one of its calls to AWS; eachKill kills it at all of them in turn. TestFaults follows plans of
// faults (docs/faults.md).
//
// Tables say what must hold: areas lists the permissions of operations, and the operations whose calls are
// platformCalls are each called once, and by another tenant. assert and require take the condition that must hold,
// equal compares; must and ok end a test whose own step has failed.
//
// The transport of the suite compares every reply of an API with openapi/sluice.yaml (contractTransport). A whole run
// fails if an operation was never called. When an environment stops, its logs are searched for secrets, each end of a
// batch must have been announced, its metrics must be well-formed, and each grant of its policies used.
package e2e
