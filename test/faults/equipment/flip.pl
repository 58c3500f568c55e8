# Exchanges paths of a folder for others, over and over: flip.pl NUMBER UID PAUSE PATH OTHER [PATH OTHER]...
# NUMBER is that of the system call renameat2, UID who does it, PAUSE how long at most between two exchanges, in
# rounds of nothing. Ends when stdin closes, leaves each path where it was, and says how many exchanges were made.
use strict;
use warnings;
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);

my ($number, $uid, $pause, @paths) = @ARGV;
if ($uid != $<) {
  $) = "$uid $uid";
  $( = $uid;
  $< = $> = $uid;
  die "It is still user $<.\n" if $< != $uid || $> != $uid;
}
fcntl(STDIN, F_SETFL, fcntl(STDIN, F_GETFL, 0) | O_NONBLOCK);
$| = 1;
print "ready\n";

my ($cwd, $exchange, $flips, $byte) = (-100, 2, 0, '');
my @swapped = map { 0 } @paths;
sub flip {
  my ($at) = @_;
  return 0 if syscall($number, $cwd, $paths[$at], $cwd, $paths[$at + 1], $exchange) != 0;
  $swapped[$at] ^= 1;
  return 1;
}
until (defined(my $read = sysread(STDIN, $byte, 1))) {
  for (1 .. 200) {
    $flips += flip(2 * int(rand(@paths / 2)));
    for (1 .. int(rand($pause))) { }
  }
}
for (my $at = 0; $at < @paths; $at += 2) { $flips += flip($at) if $swapped[$at]; }
print "$flips\n";
