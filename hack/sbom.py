"""The bill of materials of the image (SPDX 2.3) and what is known about vulnerabilities in it (OpenVEX 0.2). Used by hack/image."""

import hashlib
import re
import urllib.parse


def purl(facts, distribution):
    """The name by which scanners know a package of the distribution."""
    qualifiers = {"arch": facts["Architecture"], "distro": f"{distribution['ID']}-{distribution.get('VERSION_ID', 'unknown')}"}
    if facts["source:Package"] != facts["Package"]:
        qualifiers["upstream"] = facts["source:Package"]
    query = "&".join(f"{k}={v}" for k, v in sorted(qualifiers.items()))
    return f"pkg:deb/{distribution['ID']}/{urllib.parse.quote(facts['Package'], safe='')}@{urllib.parse.quote(facts['Version'], safe='')}?{query}"


def image_purl(about):
    return f"pkg:oci/kar-controllers@{urllib.parse.quote(about['digest'], safe='')}?arch={about['arch']}&tag={about['version']}"


def identifier(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, reference, **more):
    return {"SPDXID": identifier("Package", name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}], **more}


def file_entry(path, content):
    return {"SPDXID": identifier("File", path), "fileName": "./" + path, "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": name, "checksumValue": hashlib.new(name.lower(), content).hexdigest()} for name in ("SHA1", "SHA256")]}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def spdx(about, files, facts):
    """@files: path -> (content, mode); @facts: of each package of the distribution, with the paths that it owns."""
    whole, program = identifier("Package", "image"), identifier("Package", "kar-controllers")
    packages = [
        package("image", about["version"], image_purl(about), primaryPackagePurpose="CONTAINER",
                checksums=[{"algorithm": "SHA256", "checksumValue": about["digest"].removeprefix("sha256:")}]),
        package("kar-controllers", about["version"], f"pkg:generic/kar-controllers@{about['version']}", primaryPackagePurpose="APPLICATION",
                licenseConcluded="Apache-2.0", licenseDeclared="Apache-2.0", **({"sourceInfo": f"git revision {about['revision']}"} if about["revision"] else {}))]
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", whole), relation(whole, "CONTAINS", program),
                 relation(program, "CONTAINS", identifier("File", about["program"]))]
    for one in facts:
        entry = package(one["Package"], one["Version"], purl(one, about["distribution"]), primaryPackagePurpose="LIBRARY",
                        sourceInfo=f"built from {one['source:Package']} {one['source:Version']}",
                        supplier=f"Organization: {about['distribution']['NAME']}", **({"homepage": one["Homepage"]} if one["Homepage"] else {}))
        packages.append(entry)
        relations.append(relation(whole, "CONTAINS", entry["SPDXID"]))
        relations += [relation(entry["SPDXID"], "CONTAINS", identifier("File", path)) for path in one["files"]]
    name = f"kar-controllers-{about['version']}-{about['arch']}"
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
            "documentNamespace": f"https://kube-arbitrator.io/spdx/{name}/{about['digest'].removeprefix('sha256:')}",
            "creationInfo": {"created": about["created"], "creators": ["Tool: kar-controllers/hack/image"]}, "packages": packages,
            "files": [file_entry(path, files[path][0]) for path in sorted(files)], "relationships": relations}


def openvex(about, facts, known):
    """@known: hack/vex.json. What is about a package that this image lacks is left out."""
    of = {one["source:Package"]: purl(one, about["distribution"]) for one in facts}
    statements = []
    for row in known:
        if row["source"] in of:
            statements.append({"vulnerability": {"name": row["vulnerability"]}, "status": "not_affected", "justification": row["justification"],
                               "impact_statement": row["because"],
                               "products": [{"@id": image_purl(about), "subcomponents": [{"@id": of[row["source"]]}]}]})
    return {"@context": "https://openvex.dev/ns/v0.2.0", "@id": f"https://kube-arbitrator.io/vex/{about['digest'].removeprefix('sha256:')}",
            "author": "kar-controllers", "role": "Vendor", "timestamp": about["created"], "version": 1, "statements": statements}
