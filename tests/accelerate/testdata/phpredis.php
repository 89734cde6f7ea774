<?php

// Locks sessions by phpredis on the server whose port is given. Debian: php-cli, php-redis.

if (!extension_loaded('redis')) {
    echo "php has no extension redis\n";
    exit(69);
}

$redis = new Redis();
$redis->connect('127.0.0.1', (int) $argv[1], 30);
ini_set('session.save_handler', 'redis');
ini_set('session.save_path', "tcp://127.0.0.1:$argv[1]");
ini_set('session.use_cookies', '0');
ini_set('session.cache_limiter', '');
ini_set('redis.session.locking_enabled', '1');
ini_set('redis.session.lock_expire', '60');
ini_set('redis.session.lock_retries', '1');

$said = [];
session_id('session');
$lock = 'PHPREDIS_SESSION:session_LOCK';

session_start();
$_SESSION['count'] = 1;
$said[] = 'locked: ' . $redis->exists($lock);
session_write_close();
$said[] = 'unlocked: ' . $redis->exists($lock);

session_start();
$_SESSION['count']++;
session_write_close();

// The lock of another that has taken it meanwhile stays.
session_start();
$redis->set($lock, "another's");
@session_write_close();
$said[] = "another's: " . $redis->exists($lock);
$redis->del($lock);

$said[] = 'counts: ' . preg_replace('/\D/', '', substr($redis->get('PHPREDIS_SESSION:session'), -2));
echo implode("\n", $said), "\n";
