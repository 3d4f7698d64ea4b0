"""What stands in <pre> and is no prose: code with many comments, settings, logs, tables, verse, output of programs."""

CODE = {
    "python with a long docstring": '''
def settle(account, amount):
    """Settle an open amount of an account.

    The amount is taken from the oldest invoice first, and from the next one
    when something is left. Nothing is written before all of it is settled, so
    that a failure in the middle leaves the account as it was before.
    """
    # The lock is taken before the balance is read, because another process
    # could otherwise settle the same invoice a second time in between.
    with account.lock():
        for invoice in account.open_invoices():
            amount -= invoice.settle(amount)
            if amount <= 0:
                break
    return amount
''',
    "c with a comment above": """
/*
 * Return the number of free slots of the ring. The caller has to hold the
 * lock, since the writer may move its end of the ring at any time, and the
 * number would be wrong as soon as it is returned.
 */
static size_t ring_free(const struct ring *ring)
{
        if (ring->head >= ring->tail)
                return ring->size - (ring->head - ring->tail) - 1;
        return ring->tail - ring->head - 1;
}
""",
    "licence in a shell script": """
#!/bin/sh
# Copyright (C) 2019 The Authors of the Example
#
# This program is free software: you can redistribute it and/or modify it under
# the terms of the licence that is in the file COPYING. It is distributed in the
# hope that it will be useful, but without any warranty, not even the implied
# warranty of fitness for a particular purpose.
set -eu
for name in "$@"; do
    cp -- "$name" /srv/backup/
done
""",
    "licence in java": """
/*
 * Licensed to the Example Foundation under one or more agreements. See the
 * file NOTICE that is distributed with this work for additional information
 * about who holds the copyright. You may not use this file except in compliance
 * with the licence, of which you may obtain a copy from us.
 */
package org.example.greeting;

public final class Greeting {
    private Greeting() {}
}
""",
    "yaml with long comments": """
# The number of copies of the service that are kept running at all times. It
# should be at least two, so that one of them can be replaced by a new version
# while the other one goes on to answer.
replicas: 3

# Where the service writes what it has done. The folder has to exist and to be
# writable by the account under which the service runs.
log:
  folder: /var/log/example
  level: info
  keep-days: 14
""",
    "settings with comments": """
# If this is set to yes, the daemon reads the names of all users again whenever
# one of them is not known. It is off by default, since a directory with very
# many users would be read for every mistyped name.
reread_users = no

# How long the daemon waits for an answer of the directory before it gives up
# and takes the answer that it had before, if there was one.
directory_timeout = 20s
""",
    "ini": """
; What the printer is called in the list that is shown to the users of the
; office, and where it stands. The name must not hold a slash.
[printer]
name = Ground floor
place = Beside the kitchen, next to the window
colour = yes
""",
    "sql": """
-- All customers who have ordered something in the last year and have not been
-- written to since then, with the sum of what they have ordered.
SELECT c.name, c.city, sum(o.total) AS total
FROM customers AS c
JOIN orders AS o ON o.customer = c.id
WHERE o.placed > now() - interval '1 year'
  AND NOT EXISTS (SELECT 1 FROM letters AS l WHERE l.customer = c.id)
GROUP BY c.name, c.city
HAVING sum(o.total) > 100
ORDER BY total DESC;
""",
    "session of a database": """
shop=> select name, total from orders where total > 100 order by total;
  name   | total
---------+-------
 Harvest |   120
 Lantern |   340
(2 rows)

shop=> update orders set total = 130 where name = 'Harvest';
UPDATE 1
""",
    "session of a shell": """
$ tar xf example-2.1.tar.gz
$ cd example-2.1
$ ./configure --prefix=/opt/example
checking for a C compiler that works... yes
checking whether the compiler accepts the option for warnings... yes
$ make && sudo make install
""",
    "python session": """
>>> import math
>>> math.sqrt(2)
1.4142135623730951
>>> print("The root of two is about one and a half, but it is not quite that.")
The root of two is about one and a half, but it is not quite that.
>>> for i in range(3):
...     print(i)
""",
    "log of a service": """
2026-02-11 08:14:02 INFO  The service has started and listens on port 8080.
2026-02-11 08:14:09 WARN  The directory did not answer within two seconds.
2026-02-11 08:14:11 INFO  The directory has answered, and all users were read.
2026-02-11 08:15:40 ERROR A request from 10.0.0.7 was refused: no such user.
2026-02-11 08:15:41 INFO  A request from 10.0.0.9 was answered in 12 ms.
""",
    "log that wraps": """
Feb 11 08:14:02 host mailer[311]: warning: the queue of the service has reached
  its limit of 100 messages: new messages may wait for a while
Feb 11 08:19:44 host mailer[311]: warning: to avoid this in the future, raise
  the limit of the queue, or shorten the time that a message waits
Feb 11 08:20:02 host mailer[311]: info: the queue is below its limit again
""",
    "trace of an error": """
Traceback (most recent call last):
  File "/srv/example/run.py", line 41, in <module>
    main()
  File "/srv/example/run.py", line 17, in main
    settle(account, amount)
ValueError: the amount to settle must not be smaller than zero, but it was -3
""",
    "output of a compiler": """
ring.c: In function 'ring_free':
ring.c:12:9: warning: comparison of integer expressions of different signedness
   12 |         if (ring->head >= ring->tail)
      |                        ^~
ring.c:14:1: error: expected ';' before '}' token
""",
    "help of a program": """
Usage: settle [OPTIONS] ACCOUNT

Options:
  -a, --amount NUMBER   what to settle at most
  -n, --dry-run         only show what would be settled
  -q, --quiet           say nothing but errors
  -h, --help            show this message and exit
""",
    "output with sentences": """
Reading the list of packages... Done
Building the tree of dependencies... Done
The following packages will be installed:
  example example-doc
0 upgraded, 2 newly installed, 0 to remove and 3 not upgraded.
Do you want to continue? [Y/n]
""",
    "diff": """
--- a/settle.py
+++ b/settle.py
@@ -10,7 +10,7 @@ def settle(account, amount):
     # The lock is taken before the balance is read, because another process
     # could otherwise settle the same invoice a second time in between.
-    with account.lock():
+    with account.lock(timeout=5):
         for invoice in account.open_invoices():
             amount -= invoice.settle(amount)
""",
    "table of characters": """
+----------+--------+----------------------------------------------+
| Name     | Length | What it is for                               |
+----------+--------+----------------------------------------------+
| version  |      1 | the version of the record, at present two    |
| flags    |      1 | which of the parts below are in the record   |
| length   |      4 | how many bytes follow, without the header    |
+----------+--------+----------------------------------------------+
""",
    "drawing": """
      +---------+        +---------+        +---------+
      | browser | -----> |  relay  | -----> | machine |
      +---------+        +---------+        +---------+
                              |
                              v
                         +---------+
                         |   log   |
                         +---------+
""",
    "tree of files": """
example/
|-- README          what the project is about and how it is built
|-- src/
|   |-- main.c      where the program begins
|   `-- ring.c      the ring that all parts write to
`-- tests/
    `-- test_ring.c
""",
    "grammar": """
expression = term { ( "+" | "-" ) term } ;
term       = factor { ( "*" | "/" ) factor } ;
factor     = number | name | "(" expression ")" ;
name       = letter { letter | digit | "_" } ;
number     = digit { digit } [ "." digit { digit } ] ;
""",
    "verse": """
The lamp is out, the boats are in,
  the harbour sleeps below,
and all that was and might have been
  lies under fallen snow.

The watchman walks from gate to gate,
  his steps are all we hear,
he knows the hour, and that is late,
  and tells us it is near.
""",
    "an address": """
Example Ltd
Attn. The Secretary of the Board
14 Harbour Road
Northhaven NH3 4TT
Tel. 555 0142, Monday to Friday from 9 to 12 and from 14 to 16
""",
    "a letter with headers": """
From: Ada Example <ada@example.org>
To: Board <board@example.org>
Subject: Meeting on Thursday
Date: Tue, 3 Mar 2026 09:12:44 +0100
Message-ID: <20260303.0912@example.org>
Content-Type: text/plain; charset=utf-8

Shall we meet at nine?
""",
    "http": """
GET /orders?since=2026-01-01 HTTP/1.1
Host: shop.example
Accept: application/json
Authorization: Bearer 0123456789

HTTP/1.1 200 OK
Content-Type: application/json

{"orders": [], "message": "There is nothing in the list that you have asked for."}
""",
    "json": """
{
  "title": "The lamp that is always on",
  "description": "It is a lamp for the desk, and it has a battery for the night.",
  "price": 40,
  "notes": ["It must not be used in the bath.", "It is made of wood and of glass."]
}
""",
    "html": """
<section>
  <h2>What the lamp is for</h2>
  <p>The lamp stands on a desk, and it has a battery that lasts for a night
  when it is not used with a cable. It is made of wood and of glass.</p>
</section>
""",
    "latex": r"""
\section{What the lamp is for}
The lamp stands on a \emph{desk}, and it has a battery that lasts for a night
when it is not used with a cable~\cite{lamp}. It is made of wood and of glass.
\begin{itemize}
  \item It must not be used in the bath.
\end{itemize}
""",
    "makefile": """
# What is built when nobody says what is to be built: the program and its page
# of the manual, which is made of the text that stands in the program itself.
all: settle settle.1

settle: settle.o ring.o
\t$(CC) $(LDFLAGS) -o $@ $^

clean:
\trm -f settle settle.o ring.o
""",
    "dockerfile": """
# The image is built in two stages, so that the compiler is not in what is
# shipped in the end, and the image is as small as it can be.
FROM debian:12 AS build
RUN apt-get update && apt-get install -y gcc make
COPY . /src
RUN make -C /src

FROM debian:12
COPY --from=build /src/settle /usr/bin/settle
""",
    "rust": """
/// Returns how many slots of the ring are free. The caller has to hold the lock,
/// since the writer may move its end of the ring at any time, and the number
/// would be wrong as soon as it is returned.
pub fn free(&self) -> usize {
    if self.head >= self.tail {
        return self.size - (self.head - self.tail) - 1;
    }
    self.tail - self.head - 1
}
""",
    "lisp": """
;; Return the number of free slots of the ring. The caller has to hold the lock,
;; since the writer may move its end of the ring at any time, and the number
;; would be wrong as soon as it is returned.
(defun ring-free (ring)
  (if (>= (ring-head ring) (ring-tail ring))
      (- (ring-size ring) (- (ring-head ring) (ring-tail ring)) 1)
    (- (ring-tail ring) (ring-head ring) 1)))
""",
    "visual basic": """
' Return the number of free slots of the ring. The caller has to hold the lock,
' since the writer may move its end of the ring at any time.
Public Function FreeSlots(ByVal ring As Ring) As Integer
    If ring.Head >= ring.Tail Then
        Return ring.Size - (ring.Head - ring.Tail) - 1
    End If
    Return ring.Tail - ring.Head - 1
End Function
""",
    "cobol": """
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SETTLE.
       PROCEDURE DIVISION.
           PERFORM UNTIL AMOUNT IS LESS THAN 1
               READ INVOICES AT END MOVE 0 TO AMOUNT
               NOT AT END SUBTRACT INVOICE-TOTAL FROM AMOUNT
               END-READ
           END-PERFORM.
           STOP RUN.
""",
    "applescript": """
tell application "Finder"
    set the number of files to the count of every file of the front window
    if the number of files is greater than 100 then
        display dialog "There are more than a hundred files in this window."
        set the view of the front window to list view
    end if
end tell
""",
    "gherkin": """
Feature: Settling an account
  Scenario: The amount is larger than the oldest invoice
    Given an account with two invoices of 40 and of 60
    When the account is settled with an amount of 70
    Then the first invoice is settled
    And 30 of the second invoice are open
""",
    "numbers in columns": """
Year   Visitors   Of these from abroad   Days on which it was open
2021      41200                   6100                         201
2022      88400                  19800                         310
2023      91700                  22400                         312
2024      90100                  24900                         312
""",
    "list of words": """
False      await      else       import     pass
None       break      except     in         raise
True       class      finally    is         return
and        continue   for        lambda     try
as         def        from       nonlocal   while
assert     del        global     not        with
async      elif       if         or         yield
""",
    "commands with explanations": """
make              # build the program and what belongs to it
make check        # run the tests, which takes about a minute
make install      # copy what was built to where it is used from
make clean        # remove all that was built, but keep the settings
make dist         # pack all that is needed to build it somewhere else
""",
    "assembly": """
ring_free:
        movq    (%rdi), %rax            # where the next one is written to
        movq    8(%rdi), %rdx           # where the next one is read from
        subq    %rdx, %rax              # how many there are in the ring
        jae     .L2                     # and not less than none of them
        addq    16(%rdi), %rax
.L2:    ret
""",
    "calendar": """
BEGIN:VEVENT
SUMMARY:Meeting of the board in the large room on the first floor
DESCRIPTION:Please bring what you have written about the plans for the year.
DTSTART:20260312T090000Z
DTEND:20260312T103000Z
END:VEVENT
""",
}
