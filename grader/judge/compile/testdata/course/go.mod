module cudalab

go 1.26
