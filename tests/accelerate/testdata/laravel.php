<?php

// Holds locks by Laravel's RedisLock on the server whose port is given, without the framework. Debian: php-cli, php-redis,
// php-illuminate-cache, php-illuminate-redis.

foreach (['Redis', 'Cache'] as $part) {
    if (!extension_loaded('redis') || !@include "Illuminate/$part/autoload.php") {
        echo "php has no extension redis, or no Illuminate/$part\n";
        exit(69);
    }
}

use Illuminate\Cache\RedisLock;
use Illuminate\Redis\Connections\PhpRedisConnection;

$redis = new Redis();
$redis->connect('127.0.0.1', (int) $argv[1], 30);
$connection = new PhpRedisConnection($redis);

function tell($what, $how)
{
    echo $what, ': ', var_export($how, true), "\n";
}

$lock = new RedisLock($connection, 'lock', 60);
tell('acquire', $lock->acquire());
tell('again', (new RedisLock($connection, 'lock', 60))->acquire());

$redis->set('lock', "another's");
tell("release another's", $lock->release());
$redis->set('lock', $lock->owner());
tell('release', $lock->release());
tell('release again', $lock->release());
tell('held', $redis->exists('lock'));
