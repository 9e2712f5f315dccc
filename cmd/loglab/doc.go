// Command loglab is Log Lab: the server with the pages, and the same engine on the command line.
//
//	loglab partition --partitioner murmur2 --partitions 6 user-1 user-2
//	loglab assign --assignor range < group.json
//
// What it holds: one file a command, each with its flags, its Run and its texts; nothing that the
// engine, the labs or the pages could hold themselves.
//
// Exit status: 0 it ran; 1 it ran and the answer is no; 2 bad usage or bad input, with exactly one
// line on standard error that names what was wrong and where.
package main
