// The run inspector starts here.
export {};
