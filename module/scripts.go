package module

// Script is a Lua script that a lock library sends and one of the commands can
// stand in for. Only facts about the script are kept, not its text.
type Script struct {
	// SHA1 is the digest of the script's bytes as the library sends them, in
	// lower-case hexadecimal: what EVALSHA names the script by.
	SHA1 string
	// Length is that of the script in bytes. An EVAL is told by it first, so
	// that no other script need be hashed.
	Length int
	// Command is the Name of the command that replies the same.
	Command string
	// Surplus is how many arguments some sender adds to those that the command
	// takes. The script reads none of them.
	Surplus int
	// Libraries says who sends the script, separated by "; ": the library, the
	// first and last of its releases in which it was seen, where and how.
	// EVALSHA stands for EVALSHA and what follows a NOSCRIPT.
	Libraries string
}

// Scripts lists the scripts of released lock libraries that a command can stand
// in for, ordered by command and digest. Each is sent with one key, the token
// and, to renew, the milliseconds.
//
// What admits a script is that its replies and what it does are the command's
// in every case: run on a real server beside the two-line script that the
// command replaces, it replied the same, left the same behind, and raised the
// same keyspace events on a match, a mismatch, a missing key, each other type
// of value, and a key with and without a TTL; for empty, binary, long and
// number-like tokens; for ms from the least to the greatest 64-bit integer; and
// where its own write is refused, on a read-only replica, without enough
// replicas, and on a full server. A script that differs in one of them is left
// out, and stays Lua. So does one that is sent with several keys.
func Scripts() []Script { return scripts }

var scripts = []Script{
	{
		SHA1:      "00583931c4e4d483f6233879c133c71ed5393f9d",
		Length:    106,
		Command:   cad.Name,
		Libraries: "redsync 1.0–4.11.0 (Mutex.Unlock, EVALSHA)",
	},
	{
		SHA1:      "009b6c2964f30d7668ccb3c0e361b81a2e33733e",
		Length:    165,
		Command:   cad.Name,
		Libraries: "SncRedisBundle 2.1.0–3.6.0 on phpredis (session lock, EVAL)",
	},
	{
		SHA1:      "018bb1efb0fb3d1dfdf8993444cab23e72ac331b",
		Length:    115,
		Command:   cad.Name,
		Libraries: "LiveKit 1.5.1–1.13.5 (UnlockRoom, EVALSHA)",
	},
	{
		SHA1:      "048b8c185fa0245244ddd8abf9c93b88759a3d52",
		Length:    111,
		Command:   cad.Name,
		Libraries: "RedLock.net 1.0.0–1.7.5 (unlock, EVALSHA), built from sources with LF",
	},
	{
		SHA1:      "0daee0c7e490449180f9bd0993cd0d5158c4d560",
		Length:    114,
		Command:   cad.Name,
		Libraries: "FreeRedis 0.5.1–1.0.1 and CSRedis 3.2.1–3.8.668 (Unlock, EVAL), built from sources with LF",
	},
	{
		SHA1:      "0df94f0c181d164030a056e556fe2176c70f0013",
		Length:    104,
		Command:   cad.Name,
		Libraries: "the script on the page of SET, with a line feed after it",
	},
	{
		SHA1:      "18b2a577dbe847b16bebde190d69a1613d68e60e",
		Length:    99,
		Command:   cad.Name,
		Libraries: "RedLock.net 2.0.0–2.3.2 (unlock, EVALSHA), built from sources with LF",
	},
	{
		SHA1:    "194f3902b2dd08557818d09fc2e7682d91480e53",
		Length:  104,
		Command: cad.Name,
		Libraries: "ShedLock 6.7.0–7.9.0 (unlock, EVAL or EVALSHA); " +
			"the script on the page Distributed Locks with Redis, with a line feed after it",
	},
	{
		SHA1:      "2e47b373b4dbd63ee966d2eb9fe24ed6a138ad4e",
		Length:    92,
		Command:   cad.Name,
		Libraries: "DistributedLock.Redis 1.1.1 (RedisDistributedLock release, EVALSHA)",
	},
	{
		SHA1:      "4dbb87cd80182f627d42cf6042188ecf00a1ff12",
		Length:    94,
		Command:   cad.Name,
		Libraries: "ioredis-lock 3.2.0–4.0.0 (Lock.release, EVALSHA)",
	},
	{
		SHA1:    "4e92fdc63815b3a0a2dd1c1df3694de73607c88d",
		Length:  124,
		Command: cad.Name,
		Libraries: "redlock-py, seen in 1.0.8 (unlock, EVAL); " +
			"aioredlock 0.1.0–0.2.0 (unlock, EVAL)",
	},
	{
		SHA1:      "4f93b7d47ac8267c68050bbcf8fc07e83ce4e8e1",
		Length:    147,
		Command:   cad.Name,
		Libraries: "simple-redis-mutex 1.0.3–1.1.0 (release, EVAL)",
	},
	{
		SHA1:      "543e449927c21a2846ba4d95356286d35323c6ba",
		Length:    303,
		Command:   cad.Name,
		Libraries: "Bull 3.0.0–3.3.5 (Job.releaseLock, EVALSHA)",
	},
	{
		SHA1:      "544c68b7ffd46e5d7ccc58a27204557efba43310",
		Length:    219,
		Command:   cad.Name,
		Libraries: "redlock-rs 1.1.0–2.0.0 (unlock, EVALSHA)",
	},
	{
		SHA1:      "5c252c1a0eaeeb4522fbbb982baba4e74ddfcd0d",
		Length:    100,
		Command:   cad.Name,
		Libraries: "Redlock for Elixir 0.1.12–1.0.21 (unlock, EVALSHA)",
	},
	{
		SHA1:    "647c65a442733a1aa440f99908d249d13b4d6c4a",
		Length:  103,
		Command: cad.Name,
		Libraries: "Laravel 5.8.0–13.26.1 (RedisLock.release, EVAL); " +
			"the script on the page Distributed Locks with Redis",
	},
	{
		SHA1:      "64fb5624bc429fd3a7351146e3f479a4c8bb251e",
		Length:    101,
		Command:   cad.Name,
		Libraries: "yii2-redis 2.0.6–2.1.2 (Mutex.release, EVAL)",
	},
	{
		SHA1:      "67f205f889f16a725653a8622eaddf923aad175a",
		Length:    97,
		Command:   cad.Name,
		Libraries: "Bull 0.1.6–1.0.0 (Job.releaseLock, EVAL)",
	},
	{
		SHA1:      "69e7c9213e4cb62adafce20c4703f46b86a972bc",
		Length:    96,
		Command:   cad.Name,
		Libraries: "Redlock for Elixir 0.0.1–0.1.11 (unlock, EVALSHA)",
	},
	{
		SHA1:      "6d68783d01e6c8f9561e1fbaff528009900546ba",
		Length:    140,
		Command:   cad.Name,
		Libraries: "Carmine 1.7.0–2.7.1 (release-lock, EVALSHA)",
	},
	{
		SHA1:      "7157921a7cc7cfba979acf6d63f073151df17d12",
		Length:    154,
		Command:   cad.Name,
		Libraries: "redis-semaphore 4.0.0–5.7.0 (Mutex.release, EVALSHA)",
	},
	{
		SHA1:      "72fa56816f17e817a1847b36a3e9ae45fb93fe17",
		Length:    143,
		Command:   cad.Name,
		Libraries: "Carmine 2.8.0–3.5.0 (release-lock, EVALSHA)",
	},
	{
		SHA1:      "764ece7daa93da82f4fbf4e82e0ade7067dfec70",
		Length:    101,
		Command:   cad.Name,
		Libraries: "redis-plus-plus 1.3.6–1.3.15 (RedLock unlock, EVAL)",
	},
	{
		SHA1:    "7726c7be95e2a0ed082ec1da1e26b562f5c8903f",
		Length:  95,
		Command: cad.Name,
		Surplus: 1,
		Libraries: "rueidislock 0.0.78–1.0.37 and valkeylock 1.0.35–1.0.37 (release, EVALSHA with the deadline as a surplus argument); " +
			"rueidisaside 1.0.12–1.0.76 and valkeyaside 1.0.35–1.0.76 (release, EVALSHA)",
	},
	{
		SHA1:      "77d5e03159a6dd8e9f173bbb038a5a223a22b9c4",
		Length:    100,
		Command:   cad.Name,
		Libraries: "Redisson 2.2.5–4.7.0 (RBucket.compareAndSet to null, EVAL or EVALSHA)",
	},
	{
		SHA1:      "7b75a1e6976ca540f13721f9c625f5233ca57177",
		Length:    116,
		Command:   cad.Name,
		Libraries: "LiveKit 1.3.0–1.5.0 (UnlockRoom, EVALSHA)",
	},
	{
		SHA1:      "84aaedc49c83fe8de280cc4c076871215b1041e7",
		Length:    111,
		Command:   cad.Name,
		Libraries: "NewLife.Redis, seen in 6.5 (RedisRedLock release, EVAL), built from sources with CRLF",
	},
	{
		SHA1:      "8797e0a1d8a2721e3b17f21ae1236166a81be165",
		Length:    243,
		Command:   cad.Name,
		Libraries: "warlock 0.1.2–1.0.0 (unlock, EVALSHA)",
	},
	{
		SHA1:      "8e4905cee18e7c3188d10f2b8b170e403baed34f",
		Length:    130,
		Command:   cad.Name,
		Libraries: "redlock-rb 0.0.1–0.0.3 and 1.2.2–2.0.6 (unlock, EVALSHA)",
	},
	{
		SHA1:      "963db4d9f0ccfdb859098be0b29f8b41dc02ed97",
		Length:    140,
		Command:   cad.Name,
		Libraries: "redlock-rb 0.0.4–1.2.1 (unlock, EVALSHA)",
	},
	{
		SHA1:      "9bdce90060b1eb1923ba581ffba7051865f063d7",
		Length:    139,
		Command:   cad.Name,
		Libraries: "php-redis-lock 1.0.0–1.0.3 (RedisLock.release, EVALSHA)",
	},
	{
		SHA1:      "9c0e691d53c1b6f5d9b56d76560eccd0daa079dd",
		Length:    119,
		Command:   cad.Name,
		Libraries: "FreeRedis 0.5.1–1.0.1 and CSRedis 3.2.1–3.8.668 (Unlock, EVAL), built from sources with CRLF",
	},
	{
		SHA1:      "9d761e4bd99899f491ddaaabca66dfdde355ef99",
		Length:    105,
		Command:   cad.Name,
		Libraries: "cashews 0.2.0 (unlock, EVAL)",
	},
	{
		SHA1:      "9eb62214c9af87ae5f9a9f12bb4520281c0d2ae1",
		Length:    90,
		Command:   cad.Name,
		Surplus:   1,
		Libraries: "rueidislock and valkeylock 1.0.38–1.0.76 (release, EVALSHA with the deadline as a surplus argument)",
	},
	{
		SHA1:      "9f1c87f45490d085287f7ea18254b147fa9ae23f",
		Length:    106,
		Command:   cad.Name,
		Libraries: "NewLife.Redis, seen in 6.5 (RedisRedLock release, EVAL), built from sources with LF",
	},
	{
		SHA1:      "a3c474d56e072c9dde09ba0b8a0018a026cdff7f",
		Length:    160,
		Command:   cad.Name,
		Libraries: "php-lock 2.0–2.3.0 (Redis mutex release, EVAL)",
	},
	{
		SHA1:      "a4aada0b36710970eedaaaeec4a6b7d8c78c4f80",
		Length:    199,
		Command:   cad.Name,
		Libraries: "Pottery 1.0.5–3.0.1 (Redlock.release, EVALSHA)",
	},
	{
		SHA1:      "a64b33243ef6df8637915048437f01f9788bc883",
		Length:    173,
		Command:   cad.Name,
		Libraries: "php-lock 0.3–1.4 (Redis mutex release, EVAL)",
	},
	{
		SHA1:      "a6af429ed94954e28f7aadd4bbd934bf12a5d182",
		Length:    123,
		Command:   cad.Name,
		Libraries: "Redisson 4.1.0–4.7.0 (RBucket.compareAndDelete, EVAL or EVALSHA)",
	},
	{
		SHA1:      "ae3671744a5dbb24ea37ef607b8b10ac7856d43e",
		Length:    95,
		Command:   cad.Name,
		Libraries: "aiocache 0.6.0–0.12.3 (RedLock, EVAL)",
	},
	{
		SHA1:      "b10791fdce239978514910223a0fa9d4ee5330a6",
		Length:    99,
		Command:   cad.Name,
		Libraries: "Bull 1.1.0–1.1.3 (Job.releaseLock, EVALSHA)",
	},
	{
		SHA1:    "b6a796aa8d73bb4ce6e26afe648196d086a8d1f1",
		Length:  94,
		Command: cad.Name,
		Libraries: "redislock for Node 0.0.1–1.3.0 (Lock.release, EVALSHA); " +
			"ioredis-lock 0.0.1–1.0.2 (Lock.release, EVALSHA)",
	},
	{
		SHA1:      "b70c2384248f88e6b75b9f89241a180f856ad852",
		Length:    95,
		Command:   cad.Name,
		Libraries: "phpredis 4.1.0–6.1.0 (session lock, EVALSHA)",
	},
	{
		SHA1:      "b92b329e6dc2a8f2feaf3cf73e687c732b0fc43d",
		Length:    319,
		Command:   cad.Name,
		Libraries: "Bull 3.3.6–4.12.3 (Job.releaseLock, EVALSHA)",
	},
	{
		SHA1:      "b948f76fda6b97319d3426a2fb42b0d4f02c7146",
		Length:    107,
		Command:   cad.Name,
		Libraries: "cashews 5.1.0–7.5.0 (unlock, EVALSHA)",
	},
	{
		SHA1:      "bd75051e9049411d4a96c0df196ac2667d38f481",
		Length:    103,
		Command:   cad.Name,
		Libraries: "the script on the page of SET",
	},
	{
		SHA1:    "bec85b1c518b7ba0348a49c79b24adbb1ca95d3b",
		Length:  175,
		Command: cad.Name,
		Libraries: "Symfony Lock 3.4.0–5.1.11 (RedisStore.delete, EVAL); " +
			"redlock-php 1.0.0–1.0.1 (unlock, EVAL)",
	},
	{
		SHA1:      "bfb9f817b2e860fe4fc58656b2bf657d3fdc2be1",
		Length:    156,
		Command:   cad.Name,
		Libraries: "Sherlock 0.4.0–0.4.1 (RedisLock.release, EVALSHA)",
	},
	{
		SHA1:      "bfe9502cc2930d7ab50d6d252d1a8a9a10d5964e",
		Length:    111,
		Command:   cad.Name,
		Libraries: "Redis::DistLock 0.02–0.07 (release, EVALSHA)",
	},
	{
		SHA1:    "c3f8721cbb97f72bc19e972846bd7aaf91901658",
		Length:  185,
		Command: cad.Name,
		Libraries: "redis-py 2.10.0–8.1.0 (Lock.release, EVALSHA); " +
			"valkey-py 6.0.0–6.1.1 (Lock.release, EVALSHA); " +
			"aioredis 2.0.0–2.0.1 (Lock.release, EVALSHA)",
	},
	{
		SHA1:      "cb0427378f700ddb2f0e9394dbb0a40bd6dba04a",
		Length:    103,
		Command:   cad.Name,
		Libraries: "RedLock.net 2.0.0–2.3.2 (unlock, EVALSHA), built from sources with CRLF",
	},
	{
		SHA1:    "cf0e94b2e9ffc7e04395cf88f7583fc309985910",
		Length:  97,
		Command: cad.Name,
		Libraries: "bsm/redislock 0.3.0–0.9.4 (Lock.Release, EVALSHA); " +
			"node-redlock 0.2.0–3.1.2 (unlock, EVAL)",
	},
	{
		SHA1:      "d10461dc5ff043322a9d59734d0285f83706c732",
		Length:    105,
		Command:   cad.Name,
		Libraries: "cashews 1.0.0–5.0.0 (unlock, EVALSHA)",
	},
	{
		SHA1:      "d141b64a0a43e66a8576edaea6123638c0d74b31",
		Length:    175,
		Command:   cad.Name,
		Libraries: "Pottery 1.0.0–1.0.4 (Redlock.release, EVALSHA)",
	},
	{
		SHA1:    "d220654d7721ae520b15ed0e24a4cc97024efa08",
		Length:  105,
		Command: cad.Name,
		Libraries: "php-lock 3.0.0–3.1.1 (RedisMutex release, EVAL); " +
			"reactphp-redlock 1.0.0–2.1.0 (release, EVAL)",
	},
	{
		SHA1:      "da225123b2af4a41136fdba7ffac1e045e344da1",
		Length:    95,
		Command:   cad.Name,
		Libraries: "ioredis-lock 5.0.0–6.0.1 (Lock.release, EVALSHA)",
	},
	{
		SHA1:      "daf86bbf8740dd3ca86733367a016364b2110627",
		Length:    103,
		Command:   cad.Name,
		Libraries: "rslock 0.5.0–0.7.3 (unlock, EVALSHA)",
	},
	{
		SHA1:    "e04ea1352c46ae16a15753d4960bee821bf3b3fa",
		Length:  105,
		Command: cad.Name,
		Libraries: "go-zero 1.0.0–1.10.3 (RedisLock.Release, EVALSHA); " +
			"SncRedisBundle 2.0.0–3.6.0 on Predis (session lock, EVALSHA)",
	},
	{
		SHA1:    "e9f69f2beb755be68b5e456ee2ce9aadfbc4ebf4",
		Length:  97,
		Command: cad.Name,
		Libraries: "NewLife.Redis, seen in 6.5 (FullRedis lock release, EVAL); " +
			"redlock-cpp, unversioned (unlock, EVAL)",
	},
	{
		SHA1:      "eaf7d8b7cbe916e7dd43d9cd8f1110515658483f",
		Length:    303,
		Command:   cad.Name,
		Libraries: "Bull 4.12.4–4.15.0 (Job.releaseLock, EVALSHA)",
	},
	{
		SHA1:      "edd478c3e9deb21a48d55681748153e3711d50b2",
		Length:    251,
		Command:   cad.Name,
		Libraries: "redlock-rs 0.1.0–1.0.0 (unlock, EVALSHA)",
	},
	{
		SHA1:      "f7efa4962e187b656ea1cf95903cba7f831fd8b9",
		Length:    100,
		Command:   cad.Name,
		Libraries: "redsync.go, before it was redsync (Mutex.Unlock, EVALSHA)",
	},
	{
		SHA1:      "f9936aaa7cae902dfcb79337596c0a7c054dcaa8",
		Length:    115,
		Command:   cad.Name,
		Libraries: "RedLock.net 1.0.0–1.7.5 (unlock, EVALSHA), built from sources with CRLF",
	},
	{
		SHA1:      "fc03c85cef965af38f17fef05d68cc66c7d85c96",
		Length:    125,
		Command:   cad.Name,
		Libraries: "redlock for Python, seen in 1.2.0 (release, EVALSHA)",
	},
	{
		SHA1:      "1be6a09251a30c96b72d28243f91d89500506e46",
		Length:    132,
		Command:   caexpire.Name,
		Libraries: "FreeRedis 0.5.1–1.0.1 and CSRedis 3.8.668 (Refresh, EVAL), built from sources with CRLF",
	},
	{
		SHA1:    "1cac51482acf5858da00f6d685d68f886cd6b6b2",
		Length:  198,
		Command: caexpire.Name,
		Libraries: "redis-py 3.1.0–8.1.0 (Lock.reacquire, EVALSHA); " +
			"valkey-py 6.0.0–6.1.1 (Lock.reacquire, EVALSHA); " +
			"aioredis 2.0.0–2.0.1 (Lock.reacquire, EVALSHA)",
	},
	{
		SHA1:      "307044d49c8f033fbb885e9e0f1b7fe9e0e60675",
		Length:    188,
		Command:   caexpire.Name,
		Libraries: "Pottery 1.0.0–1.0.4 (Redlock.extend, EVALSHA)",
	},
	{
		SHA1:      "50f5ab4d38adaf78b662a67356cf1fe302b3e00f",
		Length:    107,
		Command:   caexpire.Name,
		Libraries: "ioredis-lock 3.2.0–4.0.0 (Lock.extend, EVALSHA)",
	},
	{
		SHA1:      "53692746b44cae854b8dfa32b177218bbe40baee",
		Length:    119,
		Command:   caexpire.Name,
		Libraries: "redsync 1.2.0–3.0.0 (Mutex.Extend, EVALSHA)",
	},
	{
		SHA1:      "594683e49a64ebaf975caf5f8079a1d097c438f1",
		Length:    230,
		Command:   caexpire.Name,
		Libraries: "redis-semaphore 5.3.1–5.7.0 (Mutex refresh, EVALSHA)",
	},
	{
		SHA1:      "67256370c2d1c87e2250898075542b1a7fa5b917",
		Length:    117,
		Command:   caexpire.Name,
		Libraries: "ShedLock 6.7.0–7.9.0 (extend, EVAL or EVALSHA)",
	},
	{
		SHA1:      "86b4fe869d9cbdd1d98fbd1a558026fd419f7ce5",
		Length:    111,
		Command:   caexpire.Name,
		Libraries: "lock4j 2.2.5–2.2.6 (renewal, EVALSHA)",
	},
	{
		SHA1:    "a7aba3bc5d6e99b3003da8b9d80a63b9f4092ecf",
		Length:  110,
		Command: caexpire.Name,
		Libraries: "bsm/redislock 0.3.0–0.9.4 (Lock.Refresh, EVALSHA); " +
			"node-redlock 0.3.1–3.1.2 (extend, EVAL)",
	},
	{
		SHA1:      "ae948f48c8da9feb2e215c474a412c605d33ff30",
		Length:    188,
		Command:   caexpire.Name,
		Libraries: "Symfony Lock 3.4.0–5.1.11 (RedisStore.putOffExpiration, EVAL)",
	},
	{
		SHA1:      "b414769872ec8518662b9f29e83fc691b0349f45",
		Length:    152,
		Command:   caexpire.Name,
		Libraries: "php-redis-lock 1.0.0–1.0.3 (RedisLock.update, EVALSHA)",
	},
	{
		SHA1:      "b8781a7c50e72ae869ca41c3fe9f504e365f3881",
		Length:    107,
		Command:   caexpire.Name,
		Libraries: "redislock for Node 1.1.0–1.3.0 (Lock.extend, EVALSHA)",
	},
	{
		SHA1:      "ba015a80261b616e7a62d35df0b8e3edbe6c9414",
		Length:    212,
		Command:   caexpire.Name,
		Libraries: "Pottery 1.0.5–3.0.1 (Redlock.extend, EVALSHA)",
	},
	{
		SHA1:      "bf3108245472c550b02852e1e425128e5eb399c4",
		Length:    109,
		Command:   caexpire.Name,
		Libraries: "ioredis-lock 5.0.0–6.0.1 (Lock.extend, EVALSHA)",
	},
	{
		SHA1:      "c84bf1725ab20301b67f01a4e23bec0e19076ee5",
		Length:    127,
		Command:   caexpire.Name,
		Libraries: "FreeRedis 0.5.1–1.0.1 and CSRedis 3.8.668 (Refresh, EVAL), built from sources with LF",
	},
	{
		SHA1:      "d75bb8b5bd13532ddedd17762e772346e39b321e",
		Length:    119,
		Command:   caexpire.Name,
		Libraries: "redsync 4.0.0–4.18.1 (Mutex.Extend, EVALSHA)",
	},
	{
		SHA1:      "d9558fccdcd78dcea082d72df1b67924077deac2",
		Length:    113,
		Command:   caexpire.Name,
		Libraries: "redis-plus-plus 1.3.6–1.3.15 (RedLock extend_lock, EVAL)",
	},
	{
		SHA1:      "e95849a1757fe494b3c802dc09b717d0c074eb21",
		Length:    105,
		Command:   caexpire.Name,
		Libraries: "DistributedLock.Redis 1.1.1 (RedisDistributedLock extend, EVALSHA)",
	},
}
