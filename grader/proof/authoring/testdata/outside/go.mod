// A course of its own that uses cudalab. After `go mod tidy` it also lists what cudalab requires; the test that builds this
// example copies that from cudalab's go.mod.
module example.com/outside

go 1.26.0

require cudalab v0.0.0

replace cudalab => ../../../../..
