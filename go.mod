module goblin

go 1.26.0
