-- Politeness over all processes of a database. After a crash every lease has expired anyhow, hence unlogged.

CREATE UNLOGGED TABLE host_paces (
    host       text PRIMARY KEY,                               -- with its port, where it is not the default
    next_start timestamptz NOT NULL DEFAULT '-infinity',       -- crawl delay
    held_until timestamptz NOT NULL DEFAULT '-infinity',       -- Retry-After
    status     smallint NOT NULL DEFAULT 429                   -- HTTP status that came with the last Retry-After
);

-- the oldest tickets of a host are its requests, as many as there are slots; the others wait
CREATE UNLOGGED TABLE host_leases (
    ticket     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host       text NOT NULL,
    holder     uuid NOT NULL UNIQUE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX host_leases_host ON host_leases (host, ticket);

-- One attempt of a holder. The row of the host is locked, so attempts at one host come one after another.
-- `pause_s` and `held_s`: seconds until the next start, and those of them that Retry-After asks for.
CREATE FUNCTION request_host_lease(
    wanted text, asking uuid, slots integer, delay_s double precision, lease_s double precision,
    OUT granted boolean, OUT ahead integer, OUT pause_s double precision, OUT held_s double precision, OUT status integer
) LANGUAGE plpgsql AS $$
DECLARE
    pace   host_paces;
    mine   bigint;
    moment timestamptz;
    is_new boolean;
BEGIN
    INSERT INTO host_paces AS p (host) VALUES (wanted) ON CONFLICT (host) DO UPDATE SET host = EXCLUDED.host
        RETURNING p.*, p.xmax = 0 INTO pace.host, pace.next_start, pace.held_until, pace.status, is_new;
    moment := clock_timestamp();
    IF is_new THEN  -- a good moment to drop hosts that nobody asks any more
        DELETE FROM host_paces WHERE host IN (
            SELECT p.host FROM host_paces p WHERE greatest(p.next_start, p.held_until) < moment AND p.host <> wanted
                AND NOT EXISTS (SELECT FROM host_leases l WHERE l.host = p.host AND l.expires_at > moment)
            FOR UPDATE SKIP LOCKED);
    END IF;
    DELETE FROM host_leases l WHERE l.host = wanted AND l.expires_at <= moment;
    SELECT l.ticket INTO mine FROM host_leases l WHERE l.holder = asking;
    IF mine IS NULL THEN
        INSERT INTO host_leases AS l (host, holder, expires_at) VALUES (wanted, asking, moment) RETURNING l.ticket INTO mine;
    END IF;
    ahead := (SELECT count(*) FROM host_leases l WHERE l.host = wanted AND l.ticket < mine);
    held_s := greatest(0, extract(epoch FROM greatest(pace.held_until, moment) - moment));
    pause_s := greatest(held_s, extract(epoch FROM greatest(pace.next_start, moment) - moment));
    status := pace.status;
    granted := ahead < slots AND pause_s = 0;
    IF granted THEN
        UPDATE host_leases l SET expires_at = moment + make_interval(secs => lease_s) WHERE l.ticket = mine;
        UPDATE host_paces p SET next_start = moment + make_interval(secs => delay_s) WHERE p.host = wanted;
    ELSE  -- whoever stops asking loses its place soon
        UPDATE host_leases l SET expires_at = moment + make_interval(secs => pause_s + 5) WHERE l.ticket = mine;
    END IF;
END $$;
