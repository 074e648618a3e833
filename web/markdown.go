package web

import (
	"bytes"
	"html"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders untrusted text: no scripts, no styles. A picture becomes a link
// to it, since loading it would tell its server who reads here, and when.
func markdown(source string) (string, error) {
	if strings.TrimSpace(source) == "" {
		return "", nil
	}
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(linkPictures{}, 100))),
	)
	var b bytes.Buffer
	if err := md.Convert([]byte(source), &b); err != nil {
		return "", err
	}
	policy := bluemonday.UGCPolicy()
	policy.RequireNoReferrerOnLinks(true)
	policy.AddTargetBlankToFullyQualifiedLinks(true)
	return policy.Sanitize(b.String()), nil
}

// preview is the beginning of a text in one line, without its marks.
func preview(body string) (string, error) {
	beginning := []rune(body[:min(len(body), 2000)])
	rendered, err := markdown(string(beginning[:min(len(beginning), 500)]))
	if err != nil {
		return "", err
	}
	plain := bluemonday.StrictPolicy().AddSpaceWhenStrippingTag(true).Sanitize(rendered)
	r := []rune(strings.Join(strings.Fields(html.UnescapeString(plain)), " "))
	return string(r[:min(len(r), 120)]), nil
}

type linkPictures struct{}

// Transform implements [parser.ASTTransformer].
func (linkPictures) Transform(doc *ast.Document, _ gmtext.Reader, _ parser.Context) {
	var pictures []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker gives no error
		if image, ok := n.(*ast.Image); ok && entering {
			pictures = append(pictures, image)
		}
		return ast.WalkContinue, nil
	})
	for _, image := range pictures {
		link := ast.NewLink()
		link.Destination, link.Title = image.Destination, image.Title
		for c := image.FirstChild(); c != nil; {
			next := c.NextSibling()
			link.AppendChild(link, c)
			c = next
		}
		if !link.HasChildren() {
			link.AppendChild(link, ast.NewString(image.Destination))
		}
		image.Parent().ReplaceChild(image.Parent(), image, link)
	}
}
