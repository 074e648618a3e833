// Page scripts start here.
export {};
