// Package llm reaches language models through one interface, [Provider].
//
// [OpenAI] speaks the chat completions protocol to any compatible server. [Demo]
// answers offline and deterministically, and says that it is no AI. [Router]
// chooses between them by the model's name. All are safe for concurrent use and
// depend on nothing else of the product.
package llm
