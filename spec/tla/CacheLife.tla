----------------------------- MODULE CacheLife -----------------------------
(* The life of a trace in the jit cache, for threads that call functions      *)
(* which call one another, one key each. Written by `make tla` from           *)
(* spec/rules/machine.toml: change that, not this.                            *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Functions, Threads

VARIABLES
  shared,  \* of each function: what all threads see of it
  traces,  \* of each thread: its traces under way, from the outside in
  waits    \* of each thread: the functions that it waits for, one at most

vars == <<shared, traces, waits>>

Has(s, x) == \E k \in DOMAIN s : s[k] = x
Last(s) == s[Len(s)]
Front(s) == SubSeq(s, 1, Len(s) - 1)

(* What an event finds: `v` has the machine's variables, the thread that acts *)
(* as `caller`, the number of its traces as `depth`, and as `captures` the    *)
(* tracers of the trace around it that a trace which ends has used.           *)

State(v) ==
  IF v.dead THEN "gone"
  ELSE IF v.here THEN "lifted"
  ELSE IF v.kept THEN "kept"
  ELSE IF (Len(v.makers) > 0) THEN "tracing"
  ELSE IF TRUE THEN "absent"
  ELSE "none"

\* the thread that acts is tracing the function for this key
fact_mine(v) == Has(v.makers, v.caller)

\* the thread that acts is inside a trace
fact_nested(v) == (v.depth > 0)

\* the trace used tracers of the trace around it
fact_lifted(v) == (Len(v.captures) > 0)

\* a trace is kept with the function
fact_shared(v) == v.kept

\* the thread begins to trace
effect_begin(v) ==
  [v EXCEPT !.makers = (v.makers \o <<v.caller>>)]

\* the thread traces no more; those that wait look again
effect_end(v) ==
  [v EXCEPT !.makers = SelectSeq(v.makers, LAMBDA m : (m # v.caller))]

\* its trace is kept with the function; those that wait look again
effect_keep(v) ==
  [v EXCEPT !.kept = TRUE]

\* its trace is kept with the trace around it
effect_hold(v) ==
  [v EXCEPT !.here = TRUE]

\* what is kept with the function is kept no more
effect_forget(v) ==
  [v EXCEPT !.kept = FALSE]

\* what is kept with the trace is kept no more
effect_release(v) ==
  [v EXCEPT !.here = FALSE]

\* no reference to the function is left
effect_die(v) ==
  [v EXCEPT !.dead = TRUE]

Rows == <<
  [id |-> "cache.event.first-call", event |-> "call",
   from |-> {"absent"}, outcome |-> "traces"],
  [id |-> "cache.event.hit", event |-> "call",
   from |-> {"kept"}, outcome |-> "hits"],
  [id |-> "cache.event.hit-lifted", event |-> "call",
   from |-> {"lifted"}, outcome |-> "hits"],
  [id |-> "cache.event.recursion", event |-> "call",
   from |-> {"tracing"}, outcome |-> "raises"],
  [id |-> "cache.event.wait", event |-> "call",
   from |-> {"tracing"}, outcome |-> "waits"],
  [id |-> "cache.event.trace-too", event |-> "call",
   from |-> {"tracing"}, outcome |-> "traces"],
  [id |-> "cache.event.keep", event |-> "return",
   from |-> {"tracing"}, outcome |-> ""],
  [id |-> "cache.event.first-insert", event |-> "return",
   from |-> {"kept"}, outcome |-> ""],
  [id |-> "cache.event.lift", event |-> "return",
   from |-> {"tracing", "kept"}, outcome |-> ""],
  [id |-> "cache.event.raise", event |-> "raise",
   from |-> {"tracing"}, outcome |-> ""],
  [id |-> "cache.event.raise-too", event |-> "raise",
   from |-> {"kept"}, outcome |-> ""],
  [id |-> "cache.event.clear", event |-> "clear",
   from |-> {"kept", "lifted"}, outcome |-> ""],
  [id |-> "cache.event.clear-nothing", event |-> "clear",
   from |-> {"absent", "tracing", "lifted"}, outcome |-> ""],
  [id |-> "cache.event.leave", event |-> "leave",
   from |-> {"lifted", "gone"}, outcome |-> ""],
  [id |-> "cache.event.die", event |-> "die",
   from |-> {"absent", "kept", "lifted"}, outcome |-> ""]
>>

Events == {"call", "return", "raise", "clear", "leave", "die"}

Applies(r, event, v) ==
  /\ Rows[r].event = event
  /\ State(v) \in Rows[r].from
  /\ CASE r = 1 -> TRUE
    [] r = 2 -> TRUE
    [] r = 3 -> TRUE
    [] r = 4 -> fact_mine(v)
    [] r = 5 -> ((~fact_mine(v)) /\ (~fact_nested(v)))
    [] r = 6 -> ((~fact_mine(v)) /\ fact_nested(v))
    [] r = 7 -> (~fact_lifted(v))
    [] r = 8 -> (~fact_lifted(v))
    [] r = 9 -> fact_lifted(v)
    [] r = 10 -> TRUE
    [] r = 11 -> TRUE
    [] r = 12 -> fact_shared(v)
    [] r = 13 -> (~fact_shared(v))
    [] r = 14 -> TRUE
    [] r = 15 -> TRUE

After(r, v) ==
  CASE r = 1 -> effect_begin(v)
    [] r = 2 -> v
    [] r = 3 -> v
    [] r = 4 -> v
    [] r = 5 -> v
    [] r = 6 -> effect_begin(v)
    [] r = 7 -> effect_keep(effect_end(v))
    [] r = 8 -> effect_end(v)
    [] r = 9 -> effect_hold(effect_end(v))
    [] r = 10 -> effect_end(v)
    [] r = 11 -> effect_end(v)
    [] r = 12 -> effect_forget(v)
    [] r = 13 -> v
    [] r = 14 -> effect_release(v)
    [] r = 15 -> effect_die(effect_forget(v))

(* The world. `around` are the traces that the event leaves in force. *)

Finds(f, t, around, captures) == [
  kept |-> shared[f].kept,
  makers |-> shared[f].makers,
  dead |-> shared[f].dead,
  here |-> around # <<>> /\ f \in Last(around).keeps,
  caller |-> t,
  depth |-> Len(around),
  captures |-> captures]

Alive(f) == ~shared[f].dead
Around(t, event) ==
  IF event \in {"return", "raise"} THEN Front(traces[t]) ELSE traces[t]
Calls == {r \in DOMAIN Rows : Rows[r].outcome = "traces"}

\* The traces of a thread after a row, which may change what the last one keeps.
Held(around, f, here) ==
  IF around = <<>> THEN around
  ELSE [around EXCEPT ![Len(around)].keeps =
         IF here THEN @ \cup {f} ELSE @ \ {f}]

May(f, t, event) ==
  CASE event = "call" -> Alive(f) /\ waits[t] \in {{}, {f}}
    [] event = "clear" -> Alive(f) /\ waits[t] = {}
    [] event \in {"return", "raise"} ->
         /\ waits[t] = {} /\ traces[t] # <<>>
         /\ Last(traces[t]).function = f
    [] OTHER -> FALSE

Captures(t, event) ==
  IF event = "return" /\ Len(traces[t]) > 1 THEN {<<>>, <<"x">>} ELSE {<<>>}

Step(f, t, event, captures, r) ==
  LET around == Around(t, event)
      v == Finds(f, t, around, captures)
      w == After(r, v)
      held == Held(around, f, w.here)
  IN /\ May(f, t, event)
     /\ Applies(r, event, v)
     /\ shared' = [shared EXCEPT ![f] = [kept |-> w.kept, makers |-> w.makers, dead |-> w.dead]]
     /\ traces' = [traces EXCEPT ![t] =
          IF r \in Calls THEN Append(held, [function |-> f, keeps |-> {}]) ELSE held]
     /\ waits' = [waits EXCEPT ![t] =
          IF Rows[r].outcome = "waits" THEN {f} ELSE {}]

Unused(f) == \A t \in Threads :
  /\ f \notin waits[t]
  /\ \A k \in DOMAIN traces[t] : traces[t][k].function # f

Dies(f, r) ==
  LET t == CHOOSE t \in Threads : TRUE
      v == Finds(f, t, traces[t], <<>>)
      w == After(r, v)
  IN /\ Alive(f) /\ Unused(f)
     /\ Applies(r, "die", v)
     /\ shared' = [shared EXCEPT ![f] = [kept |-> w.kept, makers |-> w.makers, dead |-> w.dead]]
     /\ UNCHANGED <<traces, waits>>

Init ==
  /\ shared = [f \in Functions |-> [kept |-> FALSE, makers |-> <<>>, dead |-> FALSE]]
  /\ traces = [t \in Threads |-> <<>>]
  /\ waits = [t \in Threads |-> {}]

Next ==
  \/ \E f \in Functions, t \in Threads, event \in Events :
       \E captures \in Captures(t, event), r \in DOMAIN Rows :
         Step(f, t, event, captures, r)
  \/ \E f \in Functions, r \in DOMAIN Rows : Dies(f, r)

Spec == Init /\ [][Next]_vars

(* What holds in every state that can be reached. *)

Applying(event, v) == {r \in DOMAIN Rows : Applies(r, event, v)}

\* Each event that can happen has one row; what ends with a trace has one, too.
OneRow ==
  /\ \A f \in Functions, t \in Threads, event \in Events :
       May(f, t, event) => \A captures \in Captures(t, event) :
         Cardinality(Applying(event, Finds(f, t, Around(t, event), captures))) = 1
  /\ \A t \in Threads : traces[t] # <<>> =>
       \A f \in Last(traces[t]).keeps :
         LET v == Finds(f, t, traces[t], <<>>) IN
           /\ Cardinality(Applying("leave", v)) = 1
           /\ \A r \in Applying("leave", v) : ~After(r, v).here
  /\ \A f \in Functions : Alive(f) /\ Unused(f) =>
       \A t \in Threads :
         Cardinality(Applying("die", Finds(f, t, traces[t], <<>>))) = 1

\* No thread traces a function within itself.
NoRecursion == \A t \in Threads : \A j, k \in DOMAIN traces[t] :
  traces[t][j].function = traces[t][k].function => j = k

\* The makers of a function are the threads that trace it, each once.
MakersTrace == \A f \in Functions :
  /\ \A t \in Threads : Has(shared[f].makers, t) <=>
       \E k \in DOMAIN traces[t] : traces[t][k].function = f
  /\ \A j, k \in DOMAIN shared[f].makers :
       shared[f].makers[j] = shared[f].makers[k] => j = k

\* Whoever waits is outside of all traces, and what it waits for can go on.
NoDeadlock == \A t \in Threads : \A f \in waits[t] :
  /\ traces[t] = <<>>
  /\ \/ shared[f].makers = <<>>
     \/ shared[f].kept
     \/ \E k \in DOMAIN shared[f].makers : waits[shared[f].makers[k]] = {}

=============================================================================
