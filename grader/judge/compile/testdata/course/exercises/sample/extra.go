package sample

const leftover = "of the skeleton; a submission without this file must not see it"
