// The builder island starts here.
export {};
