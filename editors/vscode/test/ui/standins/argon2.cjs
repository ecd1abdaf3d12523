// Stands in for argon2, which would have to be compiled and hashes passwords: there are none with --auth none.
"use strict";
module.exports = {};
