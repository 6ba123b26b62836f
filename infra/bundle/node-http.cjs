// The SDK imports it for http:// endpoints, which only emulators and tests have. As an ES module it would evaluate all
// of its getters, and thereby load a second HTTP client.
module.exports = process.getBuiltinModule('node:http');
