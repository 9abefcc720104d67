#!/usr/bin/perl
# with-descriptor.pl PID FD PROGRAM ARG…: runs a program as fusermount is run, with _FUSE_COMMFD as a copy of that process's descriptor.
# pidfd_open(2) and pidfd_getfd(2) have the same numbers on every architecture; Node has neither.
use strict;
use warnings;
use Fcntl qw(F_SETFD);

my ($pid, $number, @program) = @ARGV;
my $process = syscall(434, $pid + 0, 0);
die "process $pid cannot be opened: $!\n" if $process < 0;
my $copy = syscall(438, $process, $number + 0, 0);
die "descriptor $number of process $pid cannot be copied: $!\n" if $copy < 0;
open(my $handle, '+<&=', $copy) or die "descriptor $copy: $!\n";
fcntl($handle, F_SETFD, 0) or die "descriptor $copy: $!\n";
$ENV{_FUSE_COMMFD} = $copy;
exec(@program) or die "$program[0]: $!\n";
