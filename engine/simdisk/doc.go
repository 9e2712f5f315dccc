// Package simdisk models the disk of one node: files in memory, in flat paths such as
// "orders-0/00000000000000000000.log". Each file knows how many of its bytes have been synced, so
// that a power loss can take the rest ([Disk.LoseUnsynced]). Killing a process loses nothing here:
// the operating system's page cache outlives it. The operating system also writes bytes back unasked once
// they are old enough ([Disk.WriteBack]); for that, who writes sets [Disk.Now] before. [Disk.Wipe] takes it all.
//
// # Copies share bytes
//
// [Disk.Clone] copies no file content. The original goes on appending behind the length that the
// clone saw; the clone's first append to a file copies that file. Three rules keep this safe:
//
//  1. A byte below a file's size never changes, because Append only writes behind it. The slice that
//     Append returns may be finished by its caller, but only before anybody else can read it.
//  2. A slice that is handed out, and every slice in a clone, ends at its capacity, so appending to
//     it reallocates. Truncate cuts the capacity as well: what is appended afterwards can't
//     overwrite the bytes that a clone or a reader still sees.
//  3. Clone only reads its receiver. A disk that nobody changes any more may be cloned from several
//     goroutines at once.
//
// # Left out
//
// Directories (a path is only a name), reads and writes in the middle of a file, failing writes, a
// full disk, and how long anything takes: a sync is done at once.
//
// Simplified: creating, renaming, removing and shortening a file survive a power loss at once. A
// real file system needs the directory synced for that.
//
// # Example
//
//	var disk simdisk.Disk
//	f := disk.Create("orders-0/leader-epoch-checkpoint")
//	disk.Append(f, []byte("0\n"))
//	disk.Sync(f)
//	disk.Append(f, []byte("1\n"))
//	disk.LoseUnsynced()
//	disk.Bytes(f) // "0\n"
package simdisk
