package main

// assets are the pins.
var assets = []asset{
	{
		name:  "datastar",
		pin:   "github.com/starfederation/datastar@v1.0.2",
		sum:   "h1:v32nHpEFoAcHV+LqO/KdWmbh5M7UQp6SQLCn0l8HqsQ=",
		fetch: fromGoModule,
		files: []file{
			{
				from:   "bundles/datastar.js",
				to:     "static/dist/datastar.js",
				sha256: "2837d87acf6ee0ba8e4e63765926c25a98d63883b02f88be194a86b81d3fd24a",
			},
			{
				from:   "LICENSE.md",
				to:     "static/dist/datastar.LICENSE.md",
				sha256: "17da0e216d3c6a819526f5b72a6a44d84d34bcd9beb4191ac6af89c1508ef08f",
			},
		},
	},
	{
		name:  "axe",
		pin:   "axe-core@4.14.1",
		sum:   "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
		fetch: fromNpmPackage,
		files: []file{
			{
				from:   "axe.min.js",
				to:     "third_party/axe-core/axe.min.js",
				sha256: "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c",
			},
			{
				from:   "LICENSE",
				to:     "third_party/axe-core/LICENSE",
				sha256: "af175b9d96ee93c21a036152e1b905b0b95304d4ae8c2c921c7609100ba8df7e",
			},
			{
				from:   "LICENSE-3RD-PARTY.txt",
				to:     "third_party/axe-core/LICENSE-3RD-PARTY.txt",
				sha256: "4f8563870d0fca38bbc3e00b6f670cb7fa9f380ba9f26a7f7d1184a6b18b1653",
			},
		},
	},
}
