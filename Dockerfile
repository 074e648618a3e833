# Two stages: Go alone builds the product, since its pages are committed.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /sluice ./cmd/sluice && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /sluice /sluice
COPY --from=build --chown=nonroot:nonroot /data /data
ENV SLUICE_ADDR=:8080 SLUICE_DATABASE_URL=sqlite:/data/sluice.db
VOLUME /data
EXPOSE 8080
USER nonroot
ENTRYPOINT ["/sluice"]
