# What this autograder grades: see grade-one.sh.
export EXERCISES=slab
export SEED=42
