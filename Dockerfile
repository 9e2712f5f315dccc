# Log Lab in an image of one static binary.
#
#   docker build -t loglab .
#   docker run --rm -p 8080:8080 loglab

FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make build && mkdir /data

FROM scratch
COPY --from=build /src/bin/loglab /loglab
# The one directory that the program may write to.
COPY --from=build --chown=65532:65532 /data /data
WORKDIR /data
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/loglab"]
CMD ["serve", "--addr", ":8080"]
