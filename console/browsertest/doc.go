// Package browsertest tests the console's pages in Chromium, against the local cloud: make test-console. All of it is
// tests; this file says how to write one.
//
// A test has a tenant, a `sluice console` and a browser context of its own, so tests run at the same time and see
// nothing of each other:
//
//	func TestBatchIsFoundByName(t *testing.T) {
//		t.Parallel()
//		tenant := newTenant(t)
//		tenant.upload(tenant.generate(500, 0.01), "--name", "monday") // 500 lines, 1 % of them invalid
//		p := tenant.open("/batches") // starts the console, goes to its first address, then to the page
//		p.waitForHeading("Batches")
//		p.press("/")
//		p.typeText("mon")
//		p.click("link", "monday")
//		p.waitForText("Rejected")
//		p.checkAccessible()          // axe in light and dark and at 360 px of width
//		p.checkScreenshot("batch")   // testdata/screenshots/batch.png
//	}
//
// A tenant prepares what is to be seen: generate, upload, sluice (any command, as its client), admin, call (any
// request). withGate lets a test take the service away from the console and give it back; withFaults answers some of
// the console's requests with statuses of the test's choice. One test: make test-console PAGES=TestBatchIsFoundByName
// PAGES_FLAGS='-patience 5s'.
//
// # What is found
//
// Elements are found as people with a screen reader find them: by the role and the accessible name that Chromium
// computes ("button", "Cancel batch"). The element whose name is exactly that is taken, else the one whose name
// contains it; an empty name is any. What is looked for must be one element: narrow it with inside. Every method waits
// for what it needs, without a sleep, and fails the test after -patience (a minute) with the text of the page and a
// picture in bin/console-failures. Give -patience 5s while you write a test.
//
// # What fails every test
//
// At the end of a test, and at each checkAccessible, these are failures: an error or a warning on the browser's
// console, an exception that nobody caught, a violation of the Content-Security-Policy, a request to any other origin
// than the console's, and a dialog of the browser. A response of 4xx or 5xx is one, too, since the browser logs it: a
// test that provokes it says so with p.expect("status of 404").
//
// # Screenshots
//
// checkScreenshot makes the window four times smaller and compares it with a committed picture: up to 1 % of the
// pixels may differ by more than 40 of 255 in a colour. What is different each time is painted over: times, charts,
// elements with data-volatile, and what the test names. The page is drawn with fonts that the tests bring (Go's),
// because those of machines differ in width and break lines elsewhere; what remains, how a version of Chromium smooths
// the edges of letters, averages out in the smaller picture. A moved, missing or differently coloured part of a page
// is more than that. After an intended change write the pictures with make test-console PAGES=NAME
// PAGES_FLAGS=-update, and look at them.
//
// # Fixed surroundings
//
// The window has 1280 by 800 pixels, the language en-GB, the zone Europe/Amsterdam, light colours and reduced motion.
// setColours, resize and goOffline change that.
package browsertest
