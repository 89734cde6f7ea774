# Holds locks by redis-py on the server whose port is given. Debian: python3-redis, python3-packaging.
import sys

try:
    import redis
    from redis.exceptions import LockError
except ImportError as error:
    print(error)
    sys.exit(69)


def tell(what, how):
    print(f"{what}: {how}")


def failure(call):
    try:
        return call()
    except LockError as error:
        return type(error).__name__


client = redis.Redis(port=int(sys.argv[1]), socket_timeout=30)
lock = client.lock("lock", timeout=60)
tell("acquire", lock.acquire(blocking=False))
tell("again", client.lock("lock", timeout=60).acquire(blocking=False))
client.pexpire("lock", 30000)
tell("reacquire", lock.reacquire())
tell("lasts", 50000 < client.pttl("lock") <= 60000)
tell("extend", lock.extend(60))
tell("lasts longer", 110000 < client.pttl("lock") <= 120000)

token = client.get("lock")
client.set("lock", "another's")
tell("reacquire another's", failure(lock.reacquire))
tell("release another's", failure(lock.release))
lock.local.token = token
client.set("lock", token)
tell("release", failure(lock.release))
lock.local.token = token
tell("release again", failure(lock.release))
tell("held", client.exists("lock"))
